// Whether the owners that an object names still exist.
import type { Answer, Identity, Reader, ResourceAnswer, ResourcesAnswer } from '../../objects/cluster.ts';
import { isTerminating } from '../../objects/content/ownership.ts';
import type { Failure, Passing, Unseen } from '../../objects/failure.ts';
import { at, isList, isObject, type JsonObject, textAt } from '../../objects/json.ts';
import { groupOf } from '../../objects/reference.ts';
import { inTurn } from '../../objects/requests/in-turn.ts';
import { foreign } from '../../objects/words.ts';
import { isAway, isUnserved, untilServed } from './served.ts';

export function ownersOf(object: JsonObject | undefined): readonly JsonObject[] {
  const references = at(object, 'metadata', 'ownerReferences');
  return isList(references) ? references.filter(isObject) : [];
}

/** The owners of the second object that the first one does not name. */
export function ownersLackedBy(object: JsonObject | undefined, other: JsonObject | undefined): readonly JsonObject[] {
  const uids = new Set(ownersOf(object).map((owner) => textAt(owner, 'uid')));
  return ownersOf(other).filter((owner) => !uids.has(textAt(owner, 'uid')));
}

/** The owners that may be a problem. */
interface OwnersFound {
  /** They no longer exist. */
  readonly gone: readonly JsonObject[];
  /** They are being deleted. */
  readonly leaving: readonly JsonObject[];
  /** The identity may not read them: they may be gone too. */
  readonly hidden: readonly JsonObject[];
  /** Their kind is served in no version: they may be gone too. */
  readonly unserved: readonly JsonObject[];
  /** An owner that cannot be read for now counts as existing: this is the first such kind. */
  readonly trouble?: Unseen<Passing>;
}

/** `namespace`: that of the object. */
export async function lookForOwners(
  reader: Reader,
  identity: Identity,
  owners: readonly JsonObject[],
  namespace: string | undefined,
): Promise<OwnersFound> {
  const find = finder(reader);
  const look = async (owner: JsonObject) => stateOf({ reader, identity, namespace }, owner, await find(owner));
  // Who may write the object decides how many it names.
  const states = await inTurn(owners, look);
  const unread = owners.flatMap((owner, index) => {
    const state = states[index];
    return typeof state === 'object' ? [{ kind: kindIn(owner), failure: state }] : [];
  });
  const [trouble] = unread;
  return {
    gone: owners.filter((_, index) => states[index] === 'gone'),
    leaving: owners.filter((_, index) => states[index] === 'leaving'),
    hidden: owners.filter((_, index) => states[index] === 'hidden'),
    unserved: owners.filter((_, index) => states[index] === 'unserved'),
    ...(trouble === undefined ? {} : { trouble }),
  };
}

const longest = 253;

function kindIn(owner: JsonObject): string {
  const text = (key: string): string => foreign(textAt(owner, key) ?? '', longest);
  return `${text('kind')} of ${text('apiVersion')}`;
}

type Served = ResourceAnswer | 'unserved';

// The version that an owner is named by may not be served any more: the owner is the same object in any other one.
function finder(reader: Reader): (owner: JsonObject) => Promise<Served> {
  let everything: Promise<ResourcesAnswer> | undefined;
  return async (owner) => {
    const [apiVersion, kind] = [textAt(owner, 'apiVersion') ?? '', textAt(owner, 'kind') ?? ''];
    const exact = await reader.resource(apiVersion, kind);
    if (exact.kind === 'ok' || exact.failure.kind !== 'absent') return exact;
    everything ??= reader.resources();
    return inAnyVersion(await everything, groupOf(apiVersion), kind, exact.failure);
  };
}

function inAnyVersion(all: ResourcesAnswer, group: string, kind: string, failure: Failure): Served {
  if (all.kind === 'failed') return all;
  const resource = all.resources.find((one) => one.group === group && one.kind === kind);
  if (resource !== undefined) return { kind: 'ok', resource };
  return isAway(all.away, group) ? { kind: 'failed', failure: untilServed(failure) } : 'unserved';
}

type State = 'alive' | 'leaving' | 'gone' | 'hidden' | 'unserved' | Passing;

interface Place {
  readonly reader: Reader;
  readonly identity: Identity;
  readonly namespace: string | undefined;
}

async function stateOf(place: Place, owner: JsonObject, served: Served): Promise<State> {
  if (served === 'unserved') return served;
  if (served.kind === 'failed') return stateOfFailure(served.failure);
  const { reader, identity, namespace } = place;
  const within = served.resource.namespaced && namespace !== undefined ? { namespace } : {};
  const location = { resource: served.resource, name: textAt(owner, 'name') ?? '', ...within };
  const answer: Answer = await reader.getMetadata(location, identity);
  if (answer.kind === 'failed') return stateOfFailure(answer.failure);
  return stateIn(answer.object, owner);
}

function stateIn(object: JsonObject, owner: JsonObject): 'alive' | 'leaving' | 'gone' {
  if (textAt(object, 'metadata', 'uid') !== textAt(owner, 'uid')) return 'gone';
  return isTerminating(object) ? 'leaving' : 'alive';
}

function stateOfFailure(failure: Failure): State {
  if (isUnserved(failure)) return untilServed(failure);
  if (failure.kind === 'absent') return 'gone';
  return failure.kind === 'transient' ? failure : 'hidden';
}
