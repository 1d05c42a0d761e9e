// Reads why a gate has ended badly, once, as the ServiceAccount. The engine names kinds that the ServiceAccount may not read, and
// does not read them in another way. A rollback follows. The diagnosis must neither delay it for long nor make it fail.
import type { Logs, Resource } from '../../objects/cluster.ts';
import { type JsonObject, textAt } from '../../objects/json.ts';
import { describeDiagnosis, describePod, type Evidence, type Unread } from '../gates/diagnosis.ts';
import { lastLines, logSourceOf } from '../gates/logs.ts';
import { worstPod } from '../gates/unready-pods.ts';
import type { GateState } from '../model/gate.ts';
import { pods } from '../writes/resources.ts';
import { type List, listIn, type OwnedPods, type Owner, readBelow, withinTime } from './pods.ts';

interface Diagnosed extends Owner {
  readonly reader: Owner['reader'] & Logs;
  /** isSealed of model/entry.ts. */
  readonly sealed: boolean;
  readonly keepLogs: boolean;
}

export interface GateFailure extends Pick<GateState, 'pod' | 'logs'> {
  /** Bounded and cleaned; empty if nothing was found. */
  readonly words: string;
  /** What the engine has listed for it. */
  readonly below: OwnedPods;
}

/** Their names begin alike and end in the time they began: a shorter list would lack the last ones. */
const manyEvents = 500;

/** At most seven requests: of ReplicaSets, of Pods twice, of Events thrice, of logs if they are to be kept. */
export async function readDiagnosis(diagnosed: Diagnosed): Promise<GateFailure> {
  try {
    return await readAll(diagnosed);
  } catch (error) {
    const words = `The diagnosis has broken off (${error instanceof Error ? error.name : 'Unknown'}).`;
    return { words, below: { unread: [] } };
  }
}

async function readAll(diagnosed: Diagnosed): Promise<GateFailure> {
  const { object, sealed } = diagnosed;
  const list = listIn(diagnosed);
  const below = await readBelow(list, diagnosed);
  const worst = worstPod(below.pods ?? [])?.pod;
  const uids = [object, below.replicaSet, worst].flatMap((one) => textAt(one, 'metadata', 'uid') ?? []);
  const [kept, ...events] = await Promise.all([
    readLogs(diagnosed, below),
    ...[...new Set(uids)].map((uid) => readEvents(list, uid)),
  ]);
  const unread = [...below.unread, ...events.flatMap((one) => one.unread), ...kept.unread];
  const evidence: Evidence = { object, sealed, ...below, events: events.flatMap(({ items }) => items), unread };
  const pod =
    worst === undefined ? {} : { pod: { found: describePod(worst, sealed), uid: textAt(worst, 'metadata', 'uid') ?? '' } };
  return { words: describeDiagnosis(evidence), below, ...pod, ...kept.logs };
}

interface Kept {
  readonly logs?: Pick<GateState, 'logs'>;
  readonly unread: readonly Unread[];
}

// Logs of a sealed object are content, whatever the gate says.
async function readLogs({ reader, identity, clock, sealed, keepLogs }: Diagnosed, { pods = [] }: OwnedPods): Promise<Kept> {
  const source = keepLogs && !sealed ? logSourceOf(pods) : undefined;
  if (source === undefined) return { unread: [] };
  const answer = await Promise.race([reader.logs(source, identity), withinTime(clock)]);
  if (answer.kind === 'failed') return { unread: [{ what: 'The logs', reason: answer.failure.reason }] };
  const logs = lastLines(answer.text);
  return { unread: [], ...(logs === '' ? {} : { logs: { logs } }) };
}

async function readEvents(
  list: List,
  uid: string,
): Promise<{ readonly items: readonly JsonObject[]; readonly unread: readonly Unread[] }> {
  const fieldSelector = `involvedObject.uid=${uid},type=Warning`;
  const answer = await list(events, { fieldSelector, limit: manyEvents });
  if (answer.kind === 'ok') return { items: answer.items, unread: [] };
  return { items: [], unread: [{ what: 'Events', reason: answer.failure.reason }] };
}

const events: Resource = { ...pods, plural: 'events', kind: 'Event', statusSubresource: false };
