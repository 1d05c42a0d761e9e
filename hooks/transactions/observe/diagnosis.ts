// Reads why a gate has ended badly, once, as the ServiceAccount. The engine names kinds that the ServiceAccount may not read, and
// does not read them in another way. A rollback follows. The diagnosis must neither delay it for long nor make it fail.
import type { Clock, Failed, Identity, ListAnswer, ListOptions, Location, Reader, Resource } from '../../objects/cluster.ts';
import { deadlineExceeded } from '../../objects/failure.ts';
import { type JsonObject, listAt, textAt } from '../../objects/json.ts';
import { labelSelectorOf } from '../../objects/selector.ts';
import { describeDiagnosis, type Evidence, type Unread, worstPod } from '../gates/diagnosis.ts';
import { pods, replicaSets } from '../writes/resources.ts';

interface Diagnosed {
  readonly reader: Reader;
  readonly identity: Identity;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly location: Location;
  /** As it was read last. */
  readonly object: JsonObject;
  /** isSealed of model/entry.ts. */
  readonly sealed: boolean;
}

/** ms for all requests together. */
const longest = 2_000;

const mostBytes = 1024 * 1024;
const mostObjects = 50;
/** Of Pods that are too large to be read at once. */
const fewPods = 4;
/** Their names begin alike and end in the time they began: a shorter list would lack the last ones. */
const manyEvents = 500;

/**
 * In words, bounded and cleaned; empty if nothing was found. At most six requests: of ReplicaSets, of Pods twice, of Events thrice.
 */
export async function readDiagnosis(diagnosed: Diagnosed): Promise<string> {
  try {
    return describeDiagnosis(await readEvidence(diagnosed));
  } catch (error) {
    return `The diagnosis has broken off (${error instanceof Error ? error.name : 'Unknown'}).`;
  }
}

type List = (resource: Resource, options: ListOptions) => Promise<ListAnswer>;

async function readEvidence(diagnosed: Diagnosed): Promise<Evidence> {
  const { object, sealed } = diagnosed;
  const list = listerOf(diagnosed);
  const below = await readBelow(list, diagnosed);
  const worst = worstPod(below.pods ?? [])?.pod;
  const uids = [object, below.replicaSet, worst].flatMap((one) => textAt(one, 'metadata', 'uid') ?? []);
  const events = await Promise.all([...new Set(uids)].map((uid) => readEvents(list, uid)));
  const unread = [...below.unread, ...events.flatMap((one) => one.unread)];
  return { object, sealed, ...below, events: events.flatMap(({ items }) => items), unread };
}

// After the time is over, the engine sends no request, and does not wait for requests that are under way.
function listerOf({ reader, identity, clock, location: { namespace } }: Diagnosed): List {
  let isOver = false;
  const over = clock.sleep(longest).then(() => {
    isOver = true;
    return outOfTime;
  });
  return (resource, options) => {
    if (isOver) return over;
    // Events of what has no namespace are here.
    const place = namespace ?? 'default';
    return Promise.race([reader.listMetadata(resource, place, identity, { whole: true, mostBytes, ...options }), over]);
  };
}

const outOfTime: Failed = { kind: 'failed', failure: deadlineExceeded('the diagnosis has no time left') };

type Below = Pick<Evidence, 'replicaSet' | 'pods' | 'unread'>;

const withPods = ['apps/StatefulSet', 'apps/DaemonSet', 'apps/ReplicaSet', 'batch/Job'];

function readBelow(list: List, { location, object }: Diagnosed): Promise<Below> {
  const kind = `${location.resource.group}/${location.resource.kind}`;
  if (kind === 'apps/Deployment') return readNewest(list, object);
  if (withPods.includes(kind)) return readPods(list, object);
  return Promise.resolve({ unread: [], ...(kind === '/Pod' ? { pods: [object] } : {}) });
}

async function readNewest(list: List, deployment: JsonObject): Promise<Below> {
  const answer = await list(replicaSets, { ...selectorOf(deployment), limit: mostObjects });
  if (answer.kind === 'failed') return { unread: [{ what: 'ReplicaSets and their Pods', reason: answer.failure.reason }] };
  const [newest] = ownedBy(answer.items, deployment).sort((left, right) => revisionOf(right) - revisionOf(left));
  if (newest === undefined) return { pods: [], unread: [] };
  // Its selector has the hash of its template: Pods of older ones do not come along.
  return { replicaSet: newest, ...(await readPods(list, newest)) };
}

function revisionOf(replicaSet: JsonObject): number {
  const revision = Number(textAt(replicaSet, 'metadata', 'annotations', 'deployment.kubernetes.io/revision'));
  return Number.isSafeInteger(revision) ? revision : 0;
}

async function readPods(list: List, owner: JsonObject): Promise<Below> {
  const first = await list(pods, { ...selectorOf(owner), limit: mostObjects });
  const isTooLarge = first.kind === 'failed' && first.failure.reason === 'AnswerTooLarge';
  const answer = isTooLarge ? await list(pods, { ...selectorOf(owner), limit: fewPods }) : first;
  if (answer.kind === 'failed') return { unread: [{ what: 'Pods', reason: answer.failure.reason }] };
  return { pods: ownedBy(answer.items, owner), unread: [] };
}

function ownedBy(items: readonly JsonObject[], owner: JsonObject): JsonObject[] {
  const uid = textAt(owner, 'metadata', 'uid');
  return items.filter((item) => listAt(item, 'metadata', 'ownerReferences').some((one) => textAt(one, 'uid') === uid));
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

/** Whatever it selects: the engine checks the owners of the objects anyway. */
function selectorOf(owner: JsonObject): Pick<ListOptions, 'labelSelector'> {
  const labelSelector = labelSelectorOf(owner);
  return labelSelector === undefined ? {} : { labelSelector };
}

const events: Resource = { ...pods, plural: 'events', kind: 'Event', statusSubresource: false };
