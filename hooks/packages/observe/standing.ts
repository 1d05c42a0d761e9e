// What a decision needs of the Lock, of its holder, and of stages.
import { at, type JsonObject, textAt } from '../../objects/json.ts';
import { isUnderDeletion, type Leftover } from '../decide/ending.ts';
import { holderOf, isNumbered, numbered } from '../model/holder.ts';
import { type PackageTransaction, readPackageTransaction } from '../model/package-transaction.ts';
import { isTerminal, mostMade } from '../model/status.ts';
import { configMaps, packageTransactions, stageLabel, stages, theLock, uidLabel } from '../plan/resources.ts';
import { find, type Looker, list } from './reading.ts';

export function readTheLock(looker: Looker): Promise<JsonObject | undefined> {
  return find(looker, theLock);
}

/** With a next number above all that are known, also if the Lock was deleted, and made again. */
export async function readNumberedLock(looker: Looker): Promise<JsonObject | undefined> {
  const lock = await readTheLock(looker);
  if (lock === undefined || isNumbered(lock)) return lock;
  const keep = (object: JsonObject): JsonObject => ({ number: at(object, 'status', 'transactionNumber') ?? 0 });
  const all = await list(looker, packageTransactions, undefined, { whole: true, page: 20, keep });
  return numbered(lock, Math.max(0, ...all.map(({ number }) => (typeof number === 'number' ? number : 0))));
}

/** Stages of a package transaction that exist, the last one first. */
export async function stagesMadeBy(looker: Looker, uid: string): Promise<readonly JsonObject[]> {
  const found = await list(looker, stages, looker.namespace, { labelSelector: `${uidLabel}=${uid}`, whole: true });
  const indexOf = (stage: JsonObject): number => Number(textAt(stage, 'metadata', 'labels', stageLabel) ?? 0);
  return found.toSorted((left, right) => indexOf(right) - indexOf(left));
}

/** Those of its stages that belong to the try under way, the last one first. */
export async function stagesOfTry(looker: Looker, { status }: PackageTransaction): Promise<readonly JsonObject[]> {
  const found: JsonObject[] = [];
  for (const { name } of status.stages.slice(0, mostMade(status)).reverse()) {
    const stage = await find(looker, { resource: stages, namespace: looker.namespace, name });
    if (stage !== undefined) found.push(stage);
  }
  return found;
}

/**
 * Stages of a package transaction, and contents of stages. A ConfigMap that is being deleted waits for a finalizer of others, and for
 * nothing of ours.
 */
export function madeFor(looker: Looker, uid: string): Promise<readonly Leftover[]> {
  return labelled(looker, `${uidLabel}=${uid}`);
}

/** The same of all package transactions. */
export function madeForAll(looker: Looker): Promise<readonly Leftover[]> {
  return labelled(looker, uidLabel);
}

async function labelled(looker: Looker, labelSelector: string): Promise<readonly Leftover[]> {
  const { namespace } = looker;
  const found = await Promise.all(
    [stages, configMaps].map(async (resource) => {
      const objects = await list(looker, resource, namespace, { labelSelector });
      return objects.map((object) => ({ resource, namespace, object }));
    }),
  );
  return found.flat().filter(({ resource, object }) => resource !== configMaps || !isUnderDeletion(object));
}

interface HolderLook {
  readonly isHolderThere: boolean;
  readonly leftStages: readonly JsonObject[];
  readonly leftovers: readonly Leftover[];
}

export const uidForm = /^[-A-Za-z0-9]{1,63}$/;

/** Whether another holder of the Lock exists, and what it left if not. */
export async function lookAtHolder(looker: Looker, ptx: PackageTransaction, lock: JsonObject | undefined): Promise<HolderLook> {
  const holder = lock === undefined ? undefined : holderOf(lock);
  const none = { leftStages: [], leftovers: [] };
  if (holder === undefined || holder.uid === ptx.uid) return { isHolderThere: false, ...none };
  const found = await find(looker, { resource: packageTransactions, name: holder.name });
  // A holder without a uid was written by somebody else: its name decides, but for one that would wait for itself.
  const isSame = holder.uid === '' ? holder.name !== ptx.name : textAt(found, 'metadata', 'uid') === holder.uid;
  // One that is finished took the Lock by a late request: it has nothing under way.
  if (found !== undefined && isSame) return { isHolderThere: !isTerminal(readPackageTransaction(found).status.phase), ...none };
  if (!uidForm.test(holder.uid)) return { isHolderThere: false, ...none };
  const leftStages = await stagesMadeBy(looker, holder.uid);
  return { isHolderThere: false, leftStages, leftovers: await madeFor(looker, holder.uid) };
}
