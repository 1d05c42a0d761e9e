// A try as stages: their names, their contents in ConfigMaps, and the Transactions that make them.
import type { Write } from '../../objects/cluster.ts';
import { type JsonObject, listAt, textAt, withPath } from '../../objects/json.ts';
import { allowIrreversible, mayBeLeft, requestRollback, showRefusals, undoPartial } from '../engine.ts';
import { hashedName } from '../model/digest.ts';
import type { Gzip } from '../model/gzip.ts';
import { mayBreak, type PackageTransaction } from '../model/package-transaction.ts';
import type { Purpose, Stage } from '../model/status.ts';
import { type Contents, packedContents } from './contents.ts';
import { accountName, configMaps, nameLabel, stageLabel, stages, uidLabel, writeOf } from './resources.ts';

const mostChanges = 64;

/** The stage `index`, and its contents. */
export interface Prepared {
  readonly index: number;
  readonly stage: Stage;
  readonly contents: Contents;
}

export interface Part {
  readonly purpose: Purpose;
  readonly items: readonly JsonObject[];
  /** The number of changes that an item can result in. */
  readonly changesPerItem: number;
}

/** All stages of a try, in order. Equal parts result in equal stages, whichever process computes them. */
export function stagesOf({ uid, status }: PackageTransaction, parts: readonly Part[], gzip: Gzip): readonly Prepared[] {
  const chunks = parts.flatMap(({ purpose, items, changesPerItem }) =>
    packedContents(items, Math.floor(mostChanges / changesPerItem), gzip).map((contents) => ({ purpose, contents })),
  );
  return chunks.map(({ purpose, contents }, index) => ({
    index,
    stage: { name: hashedName('ptx', uid, status.failures + 1, index), purpose, digest: contents.digest },
    contents,
  }));
}

function metadataOf({ name, uid }: PackageTransaction, stage: string, index: number): JsonObject {
  return { name: stage, labels: { [nameLabel]: name, [uidLabel]: uid, [stageLabel]: String(index) } };
}

/** The ConfigMap that holds the contents: those that the stage `index` is prepared from, or those that it names as its source. */
interface Place {
  readonly name: string;
  readonly index: number;
  readonly namespace: string;
}

export function contentsWrite(ptx: PackageTransaction, { binaryData }: Contents, { name, index, namespace }: Place): Write {
  const metadata = metadataOf(ptx, name, index);
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, immutable: true, binaryData };
  return writeOf({ resource: configMaps, namespace, name }, object, namespace);
}

export function stageWrite(ptx: PackageTransaction, index: number, changes: readonly JsonObject[], namespace: string): Write {
  // Readers of stages are readers of package transactions. They may install CRDs, and read what refuses these CRDs.
  const shown = { [showRefusals]: 'true' };
  const allowed = mayBreak(ptx) ? { [allowIrreversible]: 'true' } : {};
  return stageOf(ptx, { index, namespace }, changes, { ...shown, ...allowed });
}

/**
 * A stage with the name of a stage that may be created late. It never begins: its rollback is requested before its first change.
 */
export function blockingWrite(ptx: PackageTransaction, index: number, namespace: string): Write {
  const target = { apiVersion: 'v1', kind: 'ConfigMap', name: ptx.status.stages[index]?.name ?? '' };
  return stageOf(ptx, { index, namespace }, [{ type: 'Delete', target }], { [requestRollback]: `${ptx.uid}/1` });
}

/**
 * Requests the rollback. Half of a package is worse than the changes that one edit by another writer keeps. So the engine undoes
 * all else, and names the objects that it leaves.
 */
export function requestWrite(stage: JsonObject, value: string, namespace: string): Write {
  const whole = withPath(stage, ['metadata', 'annotations', requestRollback], value);
  const object = withPath(whole, ['metadata', 'annotations', undoPartial], 'true');
  return writeOf({ resource: stages, namespace, name: textAt(stage, 'metadata', 'name') ?? '' }, object, namespace, stage);
}

function stageOf(
  ptx: PackageTransaction,
  { index, namespace }: Omit<Place, 'name'>,
  changes: readonly JsonObject[],
  more: JsonObject,
): Write {
  const name = ptx.status.stages[index]?.name ?? '';
  const metadata = { ...metadataOf(ptx, name, index), annotations: more };
  const spec = { serviceAccountName: accountName, changes };
  const object = { apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction', metadata, spec };
  return writeOf({ resource: stages, namespace, name }, object, namespace);
}

export function phaseOf(stage: JsonObject): string {
  return textAt(stage, 'status', 'phase') ?? 'Pending';
}

/** Whether the engine changes nothing more, unless somebody requests it. */
export function isOver(phase: string): boolean {
  return ['Committed', 'RolledBack', 'Failed'].includes(phase);
}

export function hasFailed(stage: JsonObject): boolean {
  return ['RolledBack', 'Failed'].includes(phaseOf(stage));
}

/** Whether the stage has no effect in the cluster: it was rolled back, or it ended before it applied anything. */
export function isUndone(stage: JsonObject): boolean {
  const phase = phaseOf(stage);
  return phase === 'RolledBack' || (phase === 'Failed' && !listAt(stage, 'status', 'items').some(mayBeLeft));
}
