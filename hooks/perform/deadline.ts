// The deadline of a call, checked before each request: a request that is never sent cannot land late.
import type { Answer, Clock, Cluster, Failed, Write, Writer } from '../cluster.ts';
import { deadlineExceeded } from '../model/failure.ts';

const outOfTime: Failed = { kind: 'failed', failure: deadlineExceeded('call deadline exceeded') };

/** The cluster, limited to what one call may do. */
export interface Session {
  readonly cluster: Cluster;
  /** A writer that sends nothing after that moment (monotonic ms), nor after the deadline of the call. */
  writerUntil(moment: number): Writer;
  /** Whether a write to a target was sent and its result is unknown. */
  readonly uncertain: () => boolean;
  /** The longest Retry-After of all answers, in seconds; 0 if the API server sent none. */
  readonly retryAfter: () => number;
}

export function startSession(cluster: Cluster, clock: Pick<Clock, 'monotonic'>, milliseconds: number): Session {
  const end = clock.monotonic() + milliseconds;
  const isOver = (): boolean => clock.monotonic() >= end;
  let uncertain = false;
  let retryAfter = 0;
  const heard = <Result extends { readonly kind: string }>(answer: Result | Failed): Result | Failed => {
    if (isFailed(answer)) retryAfter = Math.max(retryAfter, answer.failure.retryAfterSeconds ?? 0);
    return answer;
  };
  const writerUntil = (moment: number): Writer => {
    const isLate = (): boolean => clock.monotonic() >= moment || isOver();
    return {
      async send(write: Write): Promise<Answer> {
        if (isLate()) return outOfTime;
        const answer = heard(await cluster.send(write, isLate));
        uncertain ||= isTargets(write) && answer.kind === 'failed' && !answer.failure.definitive;
        return answer;
      },
    };
  };
  const timed = <Arguments extends readonly unknown[], Result extends { readonly kind: string }>(
    call: (...args: Arguments) => Promise<Result | Failed>,
  ) => {
    return async (...args: Arguments): Promise<Result | Failed> => (isOver() ? outOfTime : heard(await call(...args)));
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
      send: writerUntil(end).send,
    },
    writerUntil,
    uncertain: () => uncertain,
    retryAfter: () => retryAfter,
  };
}

/** What is written as the ServiceAccount; Leases and snapshots are the engine's own, and each names the version that it replaces. */
function isTargets({ identity }: Write): boolean {
  return identity.kind === 'serviceAccount';
}

function isFailed(answer: { readonly kind: string }): answer is Failed {
  return answer.kind === 'failed';
}
