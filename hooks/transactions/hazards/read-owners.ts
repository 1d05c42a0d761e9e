// Whether the owners that an object names, or the ServiceAccount of a token, still exist: if not, Kubernetes deletes the object.
import type { Answer, Identity, Reader, ResourceAnswer, ResourcesAnswer } from '../../objects/cluster.ts';
import { isToken, tokenAccount } from '../../objects/content/generated.ts';
import { isTerminating } from '../../objects/content/ownership.ts';
import type { Failure, Passing, UnlistableKind } from '../../objects/failure.ts';
import { type JsonObject, objectsAt, textAt } from '../../objects/json.ts';
import { groupOf } from '../../objects/reference.ts';
import { inTurn } from '../../objects/requests/in-turn.ts';
import { foreign } from '../../objects/words.ts';
import { isAway, isUnserved, untilServed } from '../reading/served.ts';
import { serviceAccounts } from '../writes/resources.ts';
import type { Hazards } from './hazards.ts';
import type { HazardContext } from './read-context.ts';

export function ownersOf(object: JsonObject | undefined): readonly JsonObject[] {
  return objectsAt(object, 'metadata', 'ownerReferences');
}

/** The owners of the second object that the first one does not name. */
export function ownersLackedBy(object: JsonObject | undefined, other: JsonObject | undefined): readonly JsonObject[] {
  const uids = new Set(ownersOf(object).map((owner) => textAt(owner, 'uid')));
  return ownersOf(other).filter((owner) => !uids.has(textAt(owner, 'uid')));
}

/** The owners, and for a restored object the state of its owners. `live`: the live object. */
export async function readOwners(
  { lister, entry }: HazardContext,
  live: JsonObject | undefined,
  restored: JsonObject,
): Promise<Partial<Hazards>> {
  const owners = ownersLackedBy(live, restored);
  const found = await findOwners(lister.reader, lister.identity, owners, entry.target.namespace);
  const uidsOf = (some: readonly JsonObject[]): readonly string[] => some.map((owner) => textAt(owner, 'uid') ?? '');
  return {
    goneOwners: uidsOf(found.gone),
    forbiddenOwners: uidsOf([...found.hidden, ...found.unserved]),
    ...(found.trouble === undefined ? {} : { unreadableOwner: found.trouble }),
  };
}

/** Of a restored token: whether its ServiceAccount is there. */
export async function readAccount({ lister, entry }: HazardContext, restored: JsonObject): Promise<Partial<Hazards>> {
  const { namespace } = entry.target;
  if (!isToken(restored) || namespace === undefined) return {};
  const { name, uid } = tokenAccount(restored);
  const answer = await lister.reader.getMetadata({ resource: serviceAccounts, namespace, name }, lister.identity);
  if (answer.kind === 'ok') return { tokenOf: textAt(answer.object, 'metadata', 'uid') === uid ? 'same' : 'other' };
  if (answer.failure.kind === 'transient') return { trouble: answer.failure };
  // A ServiceAccount that may not be read may be another one: the Secret is recreated without its token, and gets a new one.
  return { tokenOf: answer.failure.kind === 'absent' ? 'missing' : 'other' };
}

const longest = 253;

/** A field of an owner reference, cleaned and bounded. */
export function shown(owner: JsonObject, key: string): string {
  return foreign(textAt(owner, key) ?? '', longest);
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
  readonly trouble?: UnlistableKind<Passing>;
}

/** `namespace`: that of the object. */
export async function findOwners(
  reader: Reader,
  identity: Identity,
  owners: readonly JsonObject[],
  namespace: string | undefined,
): Promise<OwnersFound> {
  const find = finder(reader);
  const read = async (owner: JsonObject) => stateOf({ reader, identity, namespace }, owner, await find(owner));
  // Who may write the object decides how many it names.
  const states = await inTurn(owners, read);
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

function kindIn(owner: JsonObject): string {
  return `${shown(owner, 'kind')} of ${shown(owner, 'apiVersion')}`;
}

type Served = ResourceAnswer | 'unserved';

// The API server may no longer serve the version that an owner reference names. The owner is the same object in any other version.
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
