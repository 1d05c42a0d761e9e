// Lists the Pods of an object as the ServiceAccount, and for a Deployment its ReplicaSets: within a time, and with bounded answers.
import type { Clock, Failed, Identity, ListAnswer, ListOptions, Location, Reader, Resource } from '../../objects/cluster.ts';
import { deadlineExceeded, type Failure } from '../../objects/failure.ts';
import { type JsonObject, listAt, textAt } from '../../objects/json.ts';
import { labelSelectorOf } from '../../objects/selector.ts';
import type { Evidence } from '../gates/diagnosis.ts';
import { hasPods } from '../gates/new-pods.ts';
import { pods, replicaSets } from '../writes/resources.ts';

/** An object, and how to read what its controller has made. */
export interface Owner {
  readonly reader: Reader;
  readonly identity: Identity;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly location: Location;
  /** As it was read last. */
  readonly object: JsonObject;
}

/** ms for all requests together. */
const longest = 2_000;

const mostBytes = 1024 * 1024;
const mostObjects = 50;
/** Of Pods that are too large to be read at once. */
const fewPods = 4;

export type List = (resource: Resource, options: ListOptions) => Promise<ListAnswer>;

// After the time is over, the engine sends no request, and does not wait for requests that are under way.
export function listIn({ reader, identity, clock, location: { namespace } }: Owner): List {
  let isOver = false;
  const over = withinTime(clock).then((failed) => {
    isOver = true;
    return failed;
  });
  return (resource, options) => {
    if (isOver) return over;
    // Events of what has no namespace are here.
    const place = namespace ?? 'default';
    return Promise.race([reader.listMetadata(resource, place, identity, { whole: true, mostBytes, ...options }), over]);
  };
}

/** Resolves when the time is over. */
export async function withinTime(clock: Owner['clock']): Promise<Failed> {
  await clock.sleep(longest);
  return { kind: 'failed', failure: deadlineExceeded('no time is left to read Pods, their logs and Events') };
}

export interface OwnedPods extends Pick<Evidence, 'replicaSet' | 'pods' | 'unread'> {
  /** Why the engine could not list them. */
  readonly failure?: Failure;
}

export function readBelow(list: List, { location, object }: Pick<Owner, 'location' | 'object'>): Promise<OwnedPods> {
  const { resource } = location;
  if (!hasPods(resource)) return Promise.resolve({ unread: [] });
  if (resource.kind === 'Pod') return Promise.resolve({ unread: [], pods: [object] });
  return resource.kind === 'Deployment' ? readNewest(list, object) : readPods(list, object);
}

async function readNewest(list: List, deployment: JsonObject): Promise<OwnedPods> {
  const answer = await list(replicaSets, { ...selectorOf(deployment), limit: mostObjects });
  if (answer.kind === 'failed') return unreadBelow('ReplicaSets and their Pods', answer);
  const [newest] = ownedBy(answer.items, deployment).sort((left, right) => revisionOf(right) - revisionOf(left));
  if (newest === undefined) return { pods: [], unread: [] };
  // Its selector has the hash of its template: Pods of older ones do not come along.
  return { replicaSet: newest, ...(await readPods(list, newest)) };
}

function revisionOf(replicaSet: JsonObject): number {
  const revision = Number(textAt(replicaSet, 'metadata', 'annotations', 'deployment.kubernetes.io/revision'));
  return Number.isSafeInteger(revision) ? revision : 0;
}

async function readPods(list: List, owner: JsonObject): Promise<OwnedPods> {
  const first = await list(pods, { ...selectorOf(owner), limit: mostObjects });
  const isTooLarge = first.kind === 'failed' && first.failure.reason === 'AnswerTooLarge';
  const answer = isTooLarge ? await list(pods, { ...selectorOf(owner), limit: fewPods }) : first;
  if (answer.kind === 'failed') return unreadBelow('Pods', answer);
  return { pods: ownedBy(answer.items, owner), unread: [] };
}

function unreadBelow(what: string, { failure }: Failed): OwnedPods {
  return { unread: [{ what, reason: failure.reason }], failure };
}

function ownedBy(items: readonly JsonObject[], owner: JsonObject): JsonObject[] {
  const uid = textAt(owner, 'metadata', 'uid');
  return items.filter((item) => listAt(item, 'metadata', 'ownerReferences').some((one) => textAt(one, 'uid') === uid));
}

/** Whatever it selects: the engine checks the owners of the objects anyway. */
function selectorOf(owner: JsonObject): Pick<ListOptions, 'labelSelector'> {
  const labelSelector = labelSelectorOf(owner);
  return labelSelector === undefined ? {} : { labelSelector };
}
