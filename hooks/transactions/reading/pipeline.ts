// All reads of a call pass one pipeline, which this file builds. From the API server up:
//
// P1. No request is sent after the deadline of the call (deadline.ts). The deadline also notes Retry-After, and refusals of the engine.
// P2. What a call of this process has just seen is not read again (cached-reader.ts).
// P3. What a call has read counts, and has a bound, for the call, its namespace and the process (memory-budget.ts).
// P4. A call shares its lists for a moment (call-reads.ts), skips Transactions that change nothing of ours (known-targets.ts), and continues
//     the lists that the call before had no time for (unfinished.ts).
import type { Clock, Cluster, Reader } from '../../objects/cluster.ts';
import type { Transaction } from '../model/transaction.ts';
import { createCachedReader } from './cached-reader.ts';
import { type CallReads, createCallReads } from './call-reads.ts';
import { type Session, startSession } from './deadline.ts';
import { createKnownTargets } from './known-targets.ts';
import { createMemoryBudgets, readingInto } from './memory-budget.ts';
import { createUnfinished } from './unfinished.ts';

/** The pipeline of one call. */
export interface CallReader {
  readonly session: Session;
  readonly callReads: CallReads;
  /** For one attempt: drops what the attempt before has read. */
  reader(): Reader;
  /** Keeps the lists that the next call continues; returns whether there are any. */
  keepLists(): boolean;
  /** Keeps which objects the Transaction of this call changes. */
  learn(transaction: Transaction): void;
  /** Gives back what the call has read. */
  close(): void;
}

interface ReadPipeline {
  open(call: { readonly uid: string; readonly namespace: string }): CallReader;
  /** The Transaction is gone. */
  forget(uid: string): void;
}

interface PipelineOptions {
  readonly cluster: Cluster;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Ms of a call in which a request may be sent. */
  readonly stepDeadline: number;
  /** Ms for which the presence of an object counts once it was seen. */
  readonly sighting?: number | undefined;
}

/** The part of a call's time for reads. The steps that follow from the reads have the rest. */
const partForReads = 0.75;
/** Sightings of a process. */
const mostSeen = 10_000;

/** For all calls of a process. If the process forgets what it knows, calls take longer; nothing goes wrong. */
export function createPipeline({ cluster, clock, stepDeadline, sighting = 0 }: PipelineOptions): ReadPipeline {
  const sightings = createCachedReader({ clock, span: sighting, most: mostSeen });
  const budgets = createMemoryBudgets();
  const [unfinished, targets] = [createUnfinished(clock), createKnownTargets()];
  return {
    open({ uid, namespace }) {
      const session = startSession(cluster, clock, stepDeadline);
      const { budget, close } = budgets.open(namespace);
      const until = clock.monotonic() + stepDeadline * partForReads;
      const known = { lists: unfinished.of(uid), kinds: unfinished.kindsOf(uid), targets };
      const callReads = createCallReads({ now: clock.monotonic, until, ...known });
      return {
        session,
        callReads,
        reader() {
          budget.drop();
          return readingInto(budget, sightings(session.cluster));
        },
        keepLists() {
          const lists = callReads.unfinished();
          unfinished.keep(uid, lists);
          return lists.size > 0;
        },
        learn: targets.learn,
        close,
      };
    },
    forget: unfinished.delete,
  };
}
