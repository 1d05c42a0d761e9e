// The state of the Lock, of its holder, and of stages, as a decision needs it.

import { isTerminating } from '../../objects/content/ownership.ts';
import { at, type JsonObject, objectAt, textAt } from '../../objects/json.ts';
import { controllerOf } from '../checks/conflicts.ts';
import { type Holder, holderOf, isNumbered, numbered, packagesOf } from '../model/holder.ts';
import { packageKinds } from '../model/package.ts';
import { type PackageTransaction, readPackageTransaction } from '../model/package-transaction.ts';
import { isTerminal, mostMade } from '../model/status.ts';
import { isUnrecorded, type RevisionStatus } from '../writes/applied.ts';
import { isPaused, type Paused, pauserOf } from '../writes/beside.ts';
import {
  configMaps,
  definitions,
  nameLabel,
  packageTransactions,
  revisionsOfKind,
  stageLabel,
  stages,
  theLock,
  uidLabel,
} from '../writes/resources.ts';
import type { Garbage, HolderState } from './observation.ts';
import { find, list, type PackageReader } from './read.ts';

export function findLock(reader: PackageReader): Promise<JsonObject | undefined> {
  return find(reader, theLock);
}

/** The Lock with a next number above all known numbers, even if the Lock was deleted and made again. */
export async function findNumberedLock(reader: PackageReader): Promise<JsonObject | undefined> {
  const lock = await findLock(reader);
  if (lock === undefined || isNumbered(lock)) return lock;
  const keep = (object: JsonObject): JsonObject => ({ number: at(object, 'status', 'transactionNumber') ?? 0 });
  const all = await list(reader, packageTransactions, undefined, { whole: true, keep });
  return numbered(lock, Math.max(0, ...all.map(({ number }) => (typeof number === 'number' ? number : 0))));
}

/** Stages of a package transaction that exist, the last one first. */
export async function stagesMadeBy(reader: PackageReader, uid: string): Promise<readonly JsonObject[]> {
  const found = await list(reader, stages, reader.namespace, { labelSelector: `${uidLabel}=${uid}`, whole: true });
  const indexOf = (stage: JsonObject): number => Number(textAt(stage, 'metadata', 'labels', stageLabel) ?? 0);
  return found.toSorted((left, right) => indexOf(right) - indexOf(left));
}

/** The stages that belong to the try under way, the last one first. */
export async function stagesOfTry(reader: PackageReader, { status }: PackageTransaction): Promise<readonly JsonObject[]> {
  const found: JsonObject[] = [];
  for (const { name } of status.stages.slice(0, mostMade(status)).reverse()) {
    const stage = await find(reader, { resource: stages, namespace: reader.namespace, name });
    if (stage !== undefined) found.push(stage);
  }
  return found;
}

/**
 * Stages of a package transaction, or of all package transactions, and contents of stages. A ConfigMap that is being deleted waits
 * for another writer's finalizer, and for no step of the hook.
 */
export async function madeFor(reader: PackageReader, uid?: string): Promise<readonly Garbage[]> {
  const { namespace } = reader;
  const labelSelector = uid === undefined ? uidLabel : `${uidLabel}=${uid}`;
  const found = await Promise.all(
    [stages, configMaps].map(async (resource) => {
      const objects = await list(reader, resource, namespace, { labelSelector });
      return objects.map((object) => ({ resource, namespace, object }));
    }),
  );
  return found.flat().filter(({ resource, object }) => resource !== configMaps || !isTerminating(object));
}

export const uidForm = /^[-A-Za-z0-9]{1,63}$/;

/** Whether another holder of the Lock exists. If it does not exist, also what it left. */
export async function readHolder(
  reader: PackageReader,
  ptx: PackageTransaction,
  lock: JsonObject | undefined,
): Promise<HolderState> {
  const holder = lock === undefined ? undefined : holderOf(lock);
  const none = { leftStages: [], garbage: [] };
  if (holder === undefined || holder.uid === ptx.uid) return { isHolderThere: false, ...none };
  const found = await find(reader, { resource: packageTransactions, name: holder.name });
  // Another writer wrote a holder without a uid. Its name decides, unless the package transaction would wait for itself.
  const isSame = holder.uid === '' ? holder.name !== ptx.name : textAt(found, 'metadata', 'uid') === holder.uid;
  // A finished holder took the Lock by a late request: it has nothing under way.
  if (found !== undefined && isSame) return { isHolderThere: !isTerminal(readPackageTransaction(found).status.phase), ...none };
  return uidForm.test(holder.uid) ? leftBy(reader, holder) : { isHolderThere: false, ...none };
}

async function leftBy(reader: PackageReader, { uid, hasWritten, isForward }: Holder): Promise<HolderState> {
  const leftStages = await stagesMadeBy(reader, uid);
  const paused = hasWritten || isForward ? await pausedFor(reader, uid) : await handedOverBy(reader, uid);
  return { isHolderThere: false, leftStages, garbage: await madeFor(reader, uid), paused };
}

/** Revisions that a package transaction has paused until the Lock is written. */
export async function pausedFor(reader: PackageReader, uid: string): Promise<readonly Paused[]> {
  return (await allPaused(reader)).filter(({ live }) => pauserOf(live) === uid);
}

/** Revisions that Crossplane got from the package transaction before the Lock was written. */
export async function handedOverBy(reader: PackageReader, uid: string): Promise<readonly Paused[]> {
  return (await pausedFor(reader, uid)).filter(({ live }) => !isPaused(live));
}

/**
 * Revisions that must not stay paused once the Lock is written: those of this package transaction, and those that others have left,
 * since only the holder of the Lock has anything under way. Crossplane must not run a revision without an entry in the Lock.
 */
export async function pausedAfter(
  reader: PackageReader,
  { uid }: PackageTransaction,
  lock: JsonObject | undefined,
): Promise<readonly Paused[]> {
  const locked = new Set(lock === undefined ? [] : packagesOf(lock).map((one) => textAt(one, 'name')));
  const isSettled = (live: JsonObject): boolean =>
    textAt(live, 'spec', 'desiredState') !== 'Active' || locked.has(textAt(live, 'metadata', 'name'));
  return (await allPaused(reader)).filter(({ live }) => pauserOf(live) === uid || isSettled(live));
}

async function allPaused(reader: PackageReader): Promise<readonly Paused[]> {
  return (await revisionsIn(reader)).filter(({ live }) => pauserOf(live) !== undefined);
}

/** Revisions of the package transaction whose status lacks the ImageConfigs that were applied, or CRDs that it has written. */
export async function unrecordedBy(reader: PackageReader, { name }: PackageTransaction): Promise<readonly RevisionStatus[]> {
  const labelSelector = `${nameLabel}=${name}`;
  const own = await revisionsIn(reader, { labelSelector });
  const found = own.length === 0 ? [] : await list(reader, definitions, undefined, { labelSelector, keep: controlled });
  const byRevision = Map.groupBy(found, (one) => textAt(one, 'by'));
  const all = own.map(({ resource, live }) => {
    const of = byRevision.get(textAt(live, 'metadata', 'uid')) ?? [];
    const refs = of.map((one) => objectAt(one, 'ref')).sort((left, right) => (nameIn(left) < nameIn(right) ? -1 : 1));
    return { resource, live, definitions: refs };
  });
  return all.filter(isUnrecorded);
}

/** A reference to a CRD, and the uid of the revision that controls it. */
function controlled(definition: JsonObject): JsonObject {
  const { group, version, kind } = definitions;
  const [name, uid] = ['name', 'uid'].map((key) => textAt(definition, 'metadata', key) ?? '');
  const ref = { apiVersion: `${group}/${version}`, kind, name: name ?? '', uid: uid ?? '' };
  return { ref, by: textAt(controllerOf(definition), 'uid') ?? '' };
}

function nameIn(ref: JsonObject): string {
  return textAt(ref, 'name') ?? '';
}

export async function revisionsIn(reader: PackageReader, selector: { readonly labelSelector?: string } = {}) {
  const found = await Promise.all(
    packageKinds.map(async (kind) => {
      const resource = revisionsOfKind(kind);
      const all = await list(reader, resource, undefined, { whole: true, ...selector });
      return all.map((live) => ({ resource, live }));
    }),
  );
  return found.flat();
}
