// The reads that the table of hazards names, for a change and for its undo. Only reads.
import type { Resource } from '../../objects/cluster.ts';
import { writesAsController } from '../../objects/content/derived.ts';
import { managersOf } from '../../objects/content/fields.ts';
import { hasManager, isTerminating } from '../../objects/content/ownership.ts';
import { whyIncomparable } from '../../objects/content/too-large.ts';
import type { JsonObject } from '../../objects/json.ts';
import { describe, identityOf, kindOf } from '../../objects/reference.ts';
import type { SnapshotEntry } from '../model/entry.ts';
import { fieldManagers } from '../model/transaction.ts';
import { addresses, cascade, type Dependent, isDerived, isMadeBy, type Maker } from './dependents.ts';
import { type Hazards, merged, noHazards } from './hazards.ts';
import { listContained, nothingContained } from './read-contained.ts';
import { asLeft, type HazardContext, sorted } from './read-context.ts';
import { listCandidates } from './read-dependents.ts';
import { readAccount, readOwners } from './read-owners.ts';
import { readMovesBack, readValues, readWritten } from './read-stored.ts';
import { readClaims, readVolumes } from './read-volumes.ts';
import { type Read, readsOf } from './table.ts';

interface States {
  readonly before: JsonObject | undefined;
  readonly after: JsonObject | undefined;
}

type Found = Partial<Hazards>;

const readers: Readonly<Record<Read, (context: HazardContext, states: States) => Promise<Found>>> = {
  dependents: readDeletion,
  tokens: readDeletion,
  pods: readDeletion,
  contents: readDeletion,
  volumes: readDeletion,
  endpoints: readEndpoints,
  values: readValues,
  claims: readClaims,
  storage: readMovesBack,
};

/** What the rows of the table need that the change from one state to the other triggers. */
export async function readHazards(context: HazardContext, states: States): Promise<Hazards> {
  const { resource, target } = context.entry;
  const reads = readsOf({ kind: kindOf(resource), target, ...states }).map((read) => readers[read]);
  return merged(...(await Promise.all([...new Set(reads)].map((read) => read(context, states)))));
}

/** The hazards of the undo of a change, with the owners and the ServiceAccount that the restored object depends on. */
export async function readUndoHazards(
  context: HazardContext,
  { type, prior }: Pick<SnapshotEntry, 'type' | 'prior'>,
  live: JsonObject | undefined,
  now: number,
): Promise<Hazards> {
  if (type === 'Create' && live !== undefined)
    return isTerminating(live) ? noHazards : readHazards(context, { before: live, after: undefined });
  if (prior === undefined) return noHazards;
  if (type === 'Delete' && live !== undefined) return readRecreated(context, live, prior);
  return isWrittenBack(context, type, live) ? readRestored(context, live, prior, now) : noHazards;
}

async function readRestored(
  context: HazardContext,
  live: JsonObject | undefined,
  prior: JsonObject,
  now: number,
): Promise<Hazards> {
  const [found, ...more] = await Promise.all([
    readHazards(context, { before: live, after: prior }),
    readOwners(context, live, prior),
    live === undefined ? readAccount(context, prior) : readWritten(context, live, prior, now),
  ]);
  return merged(found, ...more);
}

/** Of an object that this undo has created again already: the owners that it had to leave out. */
async function readRecreated(context: HazardContext, live: JsonObject, prior: JsonObject): Promise<Hazards> {
  const isOurs = hasManager(live, [fieldManagers(context.transaction).restore]);
  return isOurs ? merged(await readOwners(context, live, prior)) : noHazards;
}

// An undo that may overwrite what others did creates the object of an Update again, too.
function isWrittenBack({ undo, entry }: HazardContext, type: SnapshotEntry['type'], live: JsonObject | undefined): boolean {
  if (live !== undefined) return true;
  return type === 'Delete' || undo?.status.items[entry.index]?.overwrite === true;
}

/**
 * The objects that Kubernetes deletes with the object. In an undo and in a rollback, objects that controllers of the object made are not
 * others' objects.
 */
async function readDeletion(context: HazardContext, { before: object = {} }: States): Promise<Found> {
  const { lister, entry, gone, isAgain } = context;
  const isBack = isBackward(context);
  const deletion = { resource: entry.resource, target: entry.target, object };
  const [candidates, contained] = await Promise.all([
    listCandidates(lister, deletion, isAgain),
    isBack ? listContained(lister, deletion, gone) : nothingContained,
  ]);
  if (candidates.kind === 'trouble') return { trouble: candidates.failure };
  if (contained.kind === 'trouble') return { trouble: contained.failure };
  const made = new Set<Dependent>();
  // Targets that were there before the Transaction: a controller may have adopted them within a second.
  const were = formerTargets(context);
  const isMade = (dependent: Dependent, by: Maker): boolean => {
    const isMadeForIt = (): boolean => isMadeBy(dependent, by) && !were.has(identityOf(dependent.reference));
    const isIts = isDerived(dependent, deletion) || (isBack && (dependent.isFed === true || isMadeForIt()));
    if (isIts) made.add(dependent);
    return isIts;
  };
  const { owned, endpoints: named, bySign } = candidates;
  const left = { owned: asLeft(context, owned), endpoints: asLeft(context, named), bySign: asLeft(context, bySign) };
  const dependents = cascade(deletion, left, isMade);
  const behind = isBack ? await readVolumes(context, object, [...made]) : {};
  const { forbiddenKinds, failingKinds, unavailable } = candidates;
  return {
    ...sorted(context, [...(contained.kind === 'known' ? contained.dependents : []), ...dependents]),
    ...behind,
    forbiddenKinds: [...(behind.forbiddenKinds ?? []), ...forbiddenKinds],
    failingKinds,
    unavailable,
    ...(contained.kind === 'unlistable' ? { unlistableContents: contained.unlistable } : {}),
  };
}

function isBackward({ undo, stayingTargets }: HazardContext): boolean {
  return undo !== undefined || stayingTargets !== undefined;
}

function formerTargets({ undo, stayingTargets }: HazardContext): ReadonlySet<string> {
  return (
    stayingTargets ?? new Set(undo?.entries.flatMap(({ prior, target }) => (prior === undefined ? [] : [identityOf(target)])))
  );
}

const endpoints: Resource = {
  group: '',
  version: 'v1',
  plural: 'endpoints',
  kind: 'Endpoints',
  namespaced: true,
  verbs: [],
  statusSubresource: false,
};

/**
 * Endpoints whose addresses a user wrote. If a controller of Kubernetes wrote them last, they are no loss, whoever annotated them.
 * If the ServiceAccount may not read them, the engine cannot know this.
 */
async function readEndpoints({ lister, entry, gone }: HazardContext): Promise<Found> {
  const { name, namespace = '' } = entry.target;
  const reference = { apiVersion: endpoints.version, kind: endpoints.kind, namespace, name };
  if (gone.has(identityOf(reference))) return {};
  const found = await lister.reader.getMetadata({ resource: endpoints, namespace, name }, lister.identity);
  if (found.kind === 'failed') return found.failure.kind === 'transient' ? { trouble: found.failure } : {};
  const isUnreadable = whyIncomparable(found.object) !== undefined;
  const writers = (isUnreadable ? [] : managersOf(found.object)).filter(({ fields }) => fields.has(addresses));
  const isOfOthers = isUnreadable || writers.some((manager) => !writesAsController(kindOf(endpoints), manager));
  return isOfOthers ? { lost: [describe(reference)] } : {};
}
