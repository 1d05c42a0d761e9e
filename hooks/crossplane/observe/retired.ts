// Inactive revisions beyond the history of their package (`revisionHistoryLimit`). A revision that controls an object stays: without
// it no package would have the object.
import { isTerminating } from '../../objects/content/ownership.ts';
import { at, type JsonObject, textAt } from '../../objects/json.ts';
import { inTurn } from '../../objects/requests/in-turn.ts';
import { controllerOf, ownersIn } from '../checks/conflicts.ts';
import { isRevisionOf } from '../model/names.ts';
import { installOf, type PackageTransaction, type Wanted } from '../model/package-transaction.ts';
import { hasFinalizer, isPaused } from '../writes/beside.ts';
import type { ChangedPackage } from '../writes/changes.ts';
import { packagesOfKind, revisionsOfKind } from '../writes/resources.ts';
import { readStage } from './objects.ts';
import type { Garbage, Orphan, RevisionGarbage } from './observation.ts';
import { type InstalledObject, installedObjects } from './owners.ts';
import { find, list, type PackageReader } from './read.ts';

/** The revisions that go with the write of the Lock. */
export async function retiredByTry(reader: PackageReader, ptx: PackageTransaction): Promise<RevisionGarbage> {
  const stages = ptx.status.stages.filter(({ purpose }) => purpose === 'Revisions');
  const items = await inTurn(stages, async (stage) => (await readStage(reader, stage)) ?? []);
  return readRetired(reader, items.flat() as unknown as readonly ChangedPackage[], installOf(ptx));
}

/** How many revisions one package transaction deletes at most. */
const mostRetired = 20;

/** The revisions of these packages that go, the oldest first. */
export async function readRetired(
  reader: PackageReader,
  packages: readonly ChangedPackage[],
  wanted: Wanted | undefined,
): Promise<RevisionGarbage> {
  const kinds = [...Map.groupBy(packages, ({ kind }) => kind)];
  const found = await inTurn(kinds, async ([kind, own]) => {
    const resource = revisionsOfKind(kind);
    const all = await list(reader, resource, undefined, { whole: true });
    const beyond = await inTurn(own, async (one) => beyondLimit(one, all, await limitOf(reader, one, wanted)));
    return beyond.flat().map((object) => ({ resource, object }));
  });
  const candidates = found.flat();
  if (candidates.length === 0) return { revisions: [], released: [] };
  const installed = await installedObjects(reader);
  const holding = new Set(installed.map(({ object }) => textAt(controllerOf(object), 'uid')));
  const free = candidates.filter(({ object }) => !holding.has(uidOf(object)));
  const revisions = free.toSorted((left, right) => numberOf(left.object) - numberOf(right.object)).slice(0, mostRetired);
  return { revisions, released: await releasedBy(reader, installed, revisions) };
}

/** Inactive revisions of a package, without the one that is installed, and without the newest `limit`. */
function beyondLimit(one: ChangedPackage, revisions: readonly JsonObject[], limit: number): readonly JsonObject[] {
  const others = revisions.filter((revision) => {
    const name = textAt(revision, 'metadata', 'name') ?? '';
    return name !== one.revision && isRevisionOf(one, name, revision);
  });
  const newestFirst = others.toSorted((left, right) => numberOf(right) - numberOf(left));
  // Crossplane does not take its finalizer from a revision that is paused.
  const isHeld = (revision: JsonObject): boolean => isPaused(revision) && hasFinalizer(revision);
  const isOver = (revision: JsonObject): boolean => textAt(revision, 'spec', 'desiredState') === 'Inactive' && !isHeld(revision);
  return newestFirst.slice(limit).filter((revision) => isOver(revision) && !isTerminating(revision));
}

function numberOf(revision: JsonObject): number {
  return Number(at(revision, 'spec', 'revision') ?? 0);
}

function uidOf(object: JsonObject): string {
  return textAt(object, 'metadata', 'uid') ?? '';
}

/** As in Crossplane, 1 if the package names none, and 0 keeps all revisions. */
async function limitOf(reader: PackageReader, one: ChangedPackage, wanted: Wanted | undefined): Promise<number> {
  const live = await find(reader, { resource: packagesOfKind(one.kind), name: one.name });
  const spec = one.isRoot && wanted !== undefined ? wanted.spec : at(live, 'spec');
  const limit = at(spec, 'revisionHistoryLimit') ?? 1;
  return typeof limit === 'number' && limit > 0 ? limit : Number.POSITIVE_INFINITY;
}

/**
 * Objects without a controller lose their references to revisions that go. Other objects have a revision in control, and the garbage
 * collector only takes the reference away.
 */
async function releasedBy(
  reader: PackageReader,
  installed: readonly InstalledObject[],
  revisions: readonly Garbage[],
): Promise<readonly Orphan[]> {
  const uids = new Set(revisions.map(({ object }) => uidOf(object)));
  const isGoing = (owner: JsonObject): boolean => uids.has(textAt(owner, 'uid') ?? '');
  const named = installed.filter(({ object }) => controllerOf(object) === undefined && ownersIn(object).some(isGoing));
  const found = await inTurn(named, async ({ resource, object }) => {
    const live = await find(reader, { resource, name: textAt(object, 'metadata', 'name') ?? '' });
    return live === undefined ? [] : [{ resource, live, owners: ownersIn(live).filter((owner) => !isGoing(owner)) }];
  });
  return found.flat();
}
