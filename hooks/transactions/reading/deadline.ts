// The deadline of a call, checked before each request: a request that is never sent cannot land late.
import type { Answer, Clock, Cluster, Failed, Identity, LogQuery, Write, Writer } from '../../objects/cluster.ts';
import type { Failure, Refusal } from '../../objects/failure.ts';
import { writerUntil as lateWriter, outOfTime } from '../../objects/requests/perform.ts';
import { serviceAccounts } from '../writes/resources.ts';

/** The cluster, limited to what one call may do. */
export interface Session {
  readonly cluster: Cluster;
  /** A writer that sends nothing after that moment (monotonic ms), nor after the deadline of the call. */
  writerUntil(moment: number): Writer;
  /** Whether a write to a target was sent and its result is unknown. */
  readonly uncertain: () => boolean;
  /** The longest Retry-After of all answers, in seconds; 0 if the API server sent none. */
  readonly retryAfter: () => number;
  /** The refusal of a read that the engine cannot do without: of the ServiceAccount, or as the ServiceAccount, since it may not impersonate it. */
  readonly barred: () => Refusal | undefined;
}

export function startSession(cluster: Cluster, clock: Pick<Clock, 'monotonic'>, milliseconds: number): Session {
  const end = clock.monotonic() + milliseconds;
  const isOver = (): boolean => clock.monotonic() >= end;
  let uncertain = false;
  let retryAfter = 0;
  const bars = createBars();
  const heard = <Result extends { readonly kind: string }>(answer: Result | Failed): Result | Failed => {
    if (isFailed(answer)) retryAfter = Math.max(retryAfter, answer.failure.retryAfterSeconds ?? 0);
    return answer;
  };
  const writerUntil = (moment: number): Writer => {
    const writer = lateWriter(cluster, () => clock.monotonic() >= moment || isOver());
    return {
      async send(write: Write): Promise<Answer> {
        const answer = heard(await writer.send(write));
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
      get: bars.read(timed(cluster.get.bind(cluster)), ({ resource }) => resource === serviceAccounts),
      getMetadata: bars.read(timed(cluster.getMetadata.bind(cluster))),
      listMetadata: bars.read(timed(cluster.listMetadata.bind(cluster))),
      resource: timed(cluster.resource.bind(cluster)),
      resources: timed(cluster.resources.bind(cluster)),
      allowed: bars.read(timed(cluster.allowed.bind(cluster))),
      dryRun: timed(cluster.dryRun.bind(cluster)),
      logs: timed((query: LogQuery, identity: Identity) => cluster.logs(query, identity)),
      send: writerUntil(end).send,
    },
    writerUntil,
    uncertain: () => uncertain,
    retryAfter: () => retryAfter,
    barred: bars.found,
  };
}

/**
 * The writes as the ServiceAccount. Leases and snapshots are the engine's own, and each of their writes names the version that it
 * replaces.
 */
function isTargets({ identity }: Write): boolean {
  return identity.kind === 'serviceAccount';
}

// Of reads alone: an admission webhook may refuse a write in whichever words it likes.
function createBars() {
  let found: Refusal | undefined;
  return {
    found: () => found,
    /** `isNeeded`: whether the engine needs what it reads as itself. */
    read<Arguments extends readonly unknown[], Result extends { readonly kind: string }>(
      ask: (...args: Arguments) => Promise<Result | Failed>,
      isNeeded: (...args: Arguments) => boolean = () => false,
    ) {
      return async (...args: Arguments): Promise<Result | Failed> => {
        const answer = await ask(...args);
        if (isFailed(answer) && isBar(answer.failure, isNeeded(...args))) found ??= answer.failure;
        return answer;
      };
    },
  };
}

function isBar(failure: Failure, isNeeded: boolean): failure is Refusal {
  return failure.kind === 'refused' && (failure.toEngine === 'impersonation' || (failure.toEngine === 'request' && isNeeded));
}

function isFailed(answer: { readonly kind: string }): answer is Failed {
  return answer.kind === 'failed';
}
