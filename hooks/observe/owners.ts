// Whether the owners that an object names still exist.
import type { Answer, Identity, Reader } from '../cluster.ts';
import { isTerminating } from '../content/ownership.ts';
import type { Failure, Unseen } from '../model/failure.ts';
import { at, isList, isObject, type JsonObject, textAt } from '../model/json.ts';
import { foreign } from '../model/words.ts';
import { inTurn } from './listing.ts';

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
  /** An owner that cannot be read for now counts as existing: this is the first such kind. */
  readonly trouble?: Unseen;
}

/** `namespace`: that of the object. */
export async function lookForOwners(
  reader: Reader,
  identity: Identity,
  owners: readonly JsonObject[],
  namespace: string | undefined,
): Promise<OwnersFound> {
  // Who may write the object decides how many it names.
  const states = await inTurn(owners, (owner) => stateOf(reader, identity, owner, namespace));
  const unread = owners.flatMap((owner, index) => {
    const state = states[index];
    return typeof state === 'object' ? [{ kind: kindIn(owner), failure: state }] : [];
  });
  const [trouble] = unread;
  return {
    gone: owners.filter((_, index) => states[index] === 'gone'),
    leaving: owners.filter((_, index) => states[index] === 'leaving'),
    hidden: owners.filter((_, index) => states[index] === 'hidden'),
    ...(trouble === undefined ? {} : { trouble }),
  };
}

const longest = 253;

function kindIn(owner: JsonObject): string {
  const text = (key: string): string => foreign(textAt(owner, key) ?? '', longest);
  return `${text('kind')} of ${text('apiVersion')}`;
}

async function stateOf(
  reader: Reader,
  identity: Identity,
  owner: JsonObject,
  namespace: string | undefined,
): Promise<'alive' | 'leaving' | 'gone' | 'hidden' | Failure> {
  const served = await reader.resource(textAt(owner, 'apiVersion') ?? '', textAt(owner, 'kind') ?? '');
  if (served.kind === 'failed') return stateOfFailure(served.failure);
  const place = served.resource.namespaced && namespace !== undefined ? { namespace } : {};
  const location = { resource: served.resource, name: textAt(owner, 'name') ?? '', ...place };
  const answer: Answer = await reader.getMetadata(location, identity);
  if (answer.kind === 'failed') return stateOfFailure(answer.failure);
  return stateIn(answer.object, owner);
}

function stateIn(object: JsonObject, owner: JsonObject): 'alive' | 'leaving' | 'gone' {
  if (textAt(object, 'metadata', 'uid') !== textAt(owner, 'uid')) return 'gone';
  return isTerminating(object) ? 'leaving' : 'alive';
}

function stateOfFailure(failure: Failure): 'gone' | 'hidden' | Failure {
  if (failure.kind === 'absent') return 'gone';
  return failure.kind === 'transient' ? failure : 'hidden';
}
