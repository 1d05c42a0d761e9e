// The deadline of a call, checked before each request: what is not sent cannot land late.
import type { Answer, Clock, Cluster, Failed, Write } from '../cluster.ts';

const outOfTime: Failed = {
  kind: 'failed',
  failure: {
    kind: 'transient',
    code: 0,
    reason: 'DeadlineExceeded',
    message: 'the time of this call is used up',
    fields: [],
    definitive: true,
  },
};

/** The cluster as one call may use it. `uncertain` tells whether a write was sent whose fate is not known. */
export interface Session {
  readonly cluster: Cluster;
  readonly uncertain: () => boolean;
}

export function startSession(cluster: Cluster, clock: Clock, milliseconds: number): Session {
  const end = clock.monotonic() + milliseconds;
  const isOver = (): boolean => clock.monotonic() >= end;
  let uncertain = false;
  const send = async (write: Write): Promise<Answer> => {
    if (isOver()) return outOfTime;
    const answer = await cluster.send(write, isOver);
    uncertain ||= answer.kind === 'failed' && !answer.failure.definitive;
    return answer;
  };
  const timed = <Arguments extends readonly unknown[], Result>(call: (...args: Arguments) => Promise<Result | Failed>) => {
    return async (...args: Arguments): Promise<Result | Failed> => (isOver() ? outOfTime : call(...args));
  };
  return {
    cluster: {
      get: timed(cluster.get.bind(cluster)),
      getMetadata: timed(cluster.getMetadata.bind(cluster)),
      listMetadata: timed(cluster.listMetadata.bind(cluster)),
      resource: timed(cluster.resource.bind(cluster)),
      resources: timed(cluster.resources.bind(cluster)),
      allowed: timed(cluster.allowed.bind(cluster)),
      dryRun: timed(cluster.dryRun.bind(cluster)),
      send,
    },
    uncertain: () => uncertain,
  };
}
