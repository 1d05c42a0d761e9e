// The changes of the next stage, against the cluster as it is now. The stages before it are Committed, so every owner has its uid.

import { isTerminating } from '../../objects/content/ownership.ts';
import { type JsonObject, textAt } from '../../objects/json.ts';
import { inTurn } from '../../objects/requests/in-turn.ts';
import { controllerOf, isLeaving } from '../checks/conflicts.ts';
import { takenName } from '../checks/names.ts';
import { packagesOf } from '../model/holder.ts';
import { isRevisionOf, packageLabel, sourceOfRevision } from '../model/names.ts';
import { kindOf, type PackageKind, packageApiVersion, quoted } from '../model/package.ts';
import type { PackageTransaction, Wanted } from '../model/package-transaction.ts';
import { isActivated, type Purpose, type Stage } from '../model/status.ts';
import { type Pause, pauseChange, pausedBeside } from '../writes/beside.ts';
import {
  activationChanges,
  type ChangedPackage,
  dependsOnSpec,
  manualChange,
  objectChange,
  type PackageObject,
  packageChange,
  type Released,
  releaseChange,
  revisionChange,
  stateChange,
} from '../writes/changes.ts';
import { sourced } from '../writes/contents.ts';
import { packagesOfKind, revisionsOfKind } from '../writes/resources.ts';
import type { WebhookService } from '../writes/webhooks.ts';
import { leavingOf } from './deletion.ts';
import { editedSince } from './edited.ts';
import { activeRevisions, readStage, resourceOf } from './objects.ts';
import type { NextChanges } from './observation.ts';
import { readHolders } from './parts.ts';
import { createFinder, find, findMetadata, list, type PackageReader, served } from './read.ts';

interface NextContext {
  readonly reader: PackageReader;
  readonly ptx: PackageTransaction;
  /** Undefined unless the package transaction installs. */
  readonly wanted: Wanted | undefined;
  readonly lock: JsonObject | undefined;
  readonly isBeside?: boolean;
  readonly servers?: WebhookService | undefined;
  readonly isOwn?: boolean;
  /** The uids of packages and revisions that lose their objects, of a Replace. */
  readonly replaced?: ReadonlySet<string>;
  /** Reads each revision once. */
  readonly findOnce?: ReturnType<typeof createFinder>;
}

export async function readNextChanges(given: NextContext, stage: Stage): Promise<NextChanges> {
  const { reader } = given;
  const { name, purpose } = stage;
  const findOnce = createFinder(reader);
  const context = purpose === 'Objects' ? { ...given, findOnce, replaced: await replacedOwners(given) } : given;
  const items = await readStage(reader, stage);
  if (items === undefined)
    return {
      kind: 'lost',
      message: `ConfigMap ${reader.namespace}/${name}: expected the contents that were stored, found none, or others`,
    };
  const changes = await inTurn(items, (item) => byPurpose[purpose](context, item));
  const lost = changes.find((one) => typeof one === 'string');
  if (lost !== undefined) return { kind: 'lost', message: lost };
  const all = changes.filter((one) => typeof one !== 'string').flat();
  return { kind: 'changes', ...(purpose === 'Objects' ? sourced(name, all, reader.gzip) : { changes: all }) };
}

async function replacedOwners({ reader, ptx }: NextContext): Promise<ReadonlySet<string>> {
  const leaving = leavingOf(ptx);
  if (leaving === undefined) return new Set();
  const { packages, revisions } = await readHolders(reader, leaving);
  return new Set([...packages, ...revisions].map(({ object }) => textAt(object, 'metadata', 'uid') ?? ''));
}

/** The changes of one item, or a missing requirement in words. */
type ChangesOf = (context: NextContext, item: JsonObject) => Promise<readonly JsonObject[] | string>;

const packageChanges: ChangesOf = async ({ reader, ptx, wanted, isBeside = false, isOwn = false }, item) => {
  const one = item as unknown as ChangedPackage;
  if (wanted === undefined) return 'the package transaction installs no package';
  const live = await find(reader, { resource: packagesOfKind(one.kind), name: one.name });
  const other = (one.isRoot ? editedSince(ptx, wanted, live) : undefined) ?? otherSince(one, wanted, live);
  return other ?? [packageChange(one, wanted, live, { ...ptx, isBeside, isOwn })];
};

/** Why another object has the name of a package since it was validated, in words. */
function otherSince(one: ChangedPackage, wanted: Wanted, live: JsonObject | undefined): string | undefined {
  const [taken] = takenName(one, textAt(live, 'spec', 'package'));
  if (taken !== undefined) return taken.message;
  const uid = textAt(live, 'metadata', 'uid');
  if (!one.isRoot || wanted.uid === undefined || uid === wanted.uid) return undefined;
  return `${one.kind} ${one.name}: expected uid ${wanted.uid}, found ${uid ?? 'no such object'}, since it was validated`;
}

const revisionChanges: ChangesOf = async ({ reader, ptx, isBeside = false }, item) => {
  const one = item as unknown as ChangedPackage;
  const resource = revisionsOfKind(one.kind);
  const owner = await find(reader, { resource: packagesOfKind(one.kind), name: one.name });
  if (owner === undefined) return `${one.kind} ${one.name} is gone`;
  const [live, revisions] = await Promise.all([
    find(reader, { resource, name: one.revision }),
    list(reader, resource, undefined, { labelSelector: `${packageLabel}=${one.name}`, whole: true }),
  ]);
  if (live !== undefined && isTerminating(live)) return `${one.kind}Revision ${one.revision} is being deleted`;
  return [revisionChange(one, { owner, live, revisions }, { ...ptx, isBeside, isActivated: isActivated(ptx.status) })];
};

const pauses: ChangesOf = async ({ reader, ptx }, item) => {
  const one = item as unknown as Pause;
  const [kind, name] = [textAt(one.target, 'kind'), textAt(one.target, 'name') ?? ''];
  const resource = await resourceOf(reader, one.target);
  const live = resource === undefined ? undefined : await findMetadata(reader, { resource, name });
  if (live === undefined) return `${kind} ${name} is gone`;
  if (one.next === undefined) return [pauseChange(one, live, ptx)];
  const holder = await served(reader, packageApiVersion, one.next.kind);
  const next = holder === undefined ? undefined : await find(reader, { resource: holder, name: one.next.name });
  return next === undefined ? `${one.next.kind} ${one.next.name} is gone` : [pauseChange(one, live, ptx, next)];
};

const objectChanges: ChangesOf = async (context, item) => {
  const { reader, ptx, servers, replaced, findOnce = createFinder(reader) } = context;
  const one = item as unknown as PackageObject;
  const { kind, revision, object } = one;
  const [owner, resource] = await Promise.all([
    findOnce({ resource: revisionsOfKind(kind), name: revision }),
    resourceOf(reader, object),
  ]);
  if (owner === undefined) return `${kind}Revision ${revision} is gone`;
  if (resource === undefined) return `${textAt(object, 'kind')} is not served any more`;
  // For most live objects only the metadata count, and CRDs are large.
  const read = dependsOnSpec(object) ? find : findMetadata;
  const live = await read(reader, { resource, name: textAt(object, 'metadata', 'name') ?? '' });
  return (await takenBy(context, one, owner, live)) ?? [objectChange(one, live, { ...ptx, servers, replaced }, owner)];
};

/** Names of the revisions that other revisions replace. */
function previousRevisions({ lock, ptx: { status } }: NextContext): readonly string[] {
  const stays = (status.proposed ?? []).map(({ name }) => name);
  const before = lock === undefined ? [] : packagesOf(lock).map((one) => textAt(one, 'name') ?? '');
  return before.filter((name) => !stays.includes(name));
}

/**
 * Who controls an object since it was validated, in words. Undefined if the object has no controller, or if a revision controls it
 * that may lose it.
 */
async function takenBy(context: NextContext, { kind, object }: PackageObject, owner?: JsonObject, live?: JsonObject) {
  const controller = live === undefined ? undefined : controllerOf(live);
  if (controller === undefined || textAt(controller, 'uid') === textAt(owner, 'metadata', 'uid')) return undefined;
  if (isLeaving(controller, previousRevisions(context)) || context.replaced?.has(textAt(controller, 'uid') ?? ''))
    return undefined;
  const [by = '', name = ''] = [textAt(controller, 'kind'), textAt(controller, 'name')];
  if (by === `${kind}Revision` && (await isOfSamePackage(context.reader, kind, name, owner))) return undefined;
  const what = `${textAt(object, 'kind')} ${textAt(object, 'metadata', 'name')}`;
  return `${what}: expected no controller, or a revision of the same package, found ${quoted(by)} ${quoted(name)}, since it was validated: let it go first`;
}

async function isOfSamePackage(reader: PackageReader, kind: PackageKind, name: string, owner: JsonObject = {}): Promise<boolean> {
  const own = { source: sourceOfRevision(owner) ?? '', name: textAt(owner, 'metadata', 'labels', packageLabel) ?? '' };
  return isRevisionOf(own, name, await find(reader, { resource: revisionsOfKind(kind), name }));
}

const activation: ChangesOf = async ({ reader }, item) => {
  const one = item as unknown as ChangedPackage;
  const active = await activeRevisions(reader, one.kind, one);
  const others = active.map(({ name }) => name).filter((name) => name !== one.revision);
  return activationChanges(one, others);
};

/**
 * Beside Crossplane, a revision that becomes Inactive would take its entry out of the Lock, and leave the objects that are deleted. A
 * package object becomes Manual, so that no package manager makes its revision Active again.
 */
const deactivation: ChangesOf = async ({ reader, ptx, isBeside = false }, item) => {
  const [kind, name] = [textAt(item, 'kind') ?? '', textAt(item, 'name') ?? ''];
  const packageKind = kindOf(kind);
  if (packageKind !== undefined) {
    const isLeaving = isTerminating(await findMetadata(reader, { resource: packagesOfKind(packageKind), name }));
    return isLeaving ? [] : [manualChange(kind, name, ptx)];
  }
  const change = stateChange(kind, name, 'Inactive');
  const resource = isBeside ? await served(reader, packageApiVersion, kind) : undefined;
  const live = resource === undefined ? undefined : await findMetadata(reader, { resource, name });
  return [live === undefined ? change : pausedBeside(change, live, ptx)];
};

const byPurpose: Readonly<Record<Purpose, ChangesOf>> = {
  Packages: packageChanges,
  Revisions: revisionChanges,
  Pauses: pauses,
  Objects: objectChanges,
  Releases: async (_, item) => [releaseChange(item as unknown as Released)],
  Activation: activation,
  Deactivation: deactivation,
};
