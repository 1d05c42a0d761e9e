// The look with which each step begins: the Transaction with its Leases, tried again for a moment where it cannot be read.
import type { Call, EngineParts } from './call.ts';
import type { Reader } from './cluster.ts';
import { firstLease } from './decide/guards.ts';
import { isAccountedFor } from './decide/in-flight.ts';
import { withdrawn } from './decide/undo-transitions.ts';
import type { JsonObject } from './model/json.ts';
import { isUnderWay } from './model/phase.ts';
import type { Status } from './model/status.ts';
import type { Carry } from './observe/carry.ts';
import type { NotLive } from './observe/live.ts';
import { type Looked, look } from './observe/look.ts';
import type { Presence, Recollection } from './observe/observation.ts';
import { readLive } from './observe/read.ts';
import type { Session } from './perform/deadline.ts';

/** Ms until the Transaction is read again that could not be; after the last of them it is for the next call. */
const readPauses: readonly number[] = [200, 400, 800];

/** A target that was read before the Transaction. */
export interface Early {
  readonly index: number;
  readonly presence: Presence;
}

/** What the look before this one has left. */
export interface Earlier {
  readonly carry: Carry;
  readonly last?: Pick<Looked, 'transaction'>;
}

/** The target that the step before asked for: it is read before the Transaction is (W5, decide/in-flight.ts). */
export async function readEarly(reader: Reader, { carry: { reads }, last }: Earlier): Promise<Early | undefined> {
  if (reads === undefined || last === undefined) return undefined;
  return { index: reads.index, presence: await readLive(reader, last.transaction, reads) };
}

interface Looking {
  readonly parts: Pick<EngineParts, 'clock' | 'engineNamespace'>;
  readonly session: Session;
}

export async function lookPatiently(looking: Looking, call: Call, tries = 0): Promise<Looked | NotLive> {
  const { parts, session } = looking;
  const live = await look(session.cluster, call, parts.engineNamespace);
  const pause = readPauses[tries];
  if (live.kind !== 'unreadable' || pause === undefined || session.retryAfter() > 0) return live;
  await parts.clock.sleep(pause);
  return lookPatiently(looking, call, tries + 1);
}

/** The Lease of the first change, where changes may be made or undone. */
export async function firstLock({ status, ownLeases }: Looked): Promise<JsonObject | undefined> {
  if (!isUnderWay(status.phase)) return undefined;
  const own = await ownLeases();
  return own.kind === 'ok' ? firstLease(status, own.objects) : undefined;
}

/** W3 (decide/in-flight.ts): what is only announced was never sent. */
export function foundStatus(status: Status, first: JsonObject | undefined, recollection: Recollection): Status {
  return status.phase === 'RollingBack' && isAccountedFor({ status, first, recollection }) ? withdrawn(status) : status;
}
