// The names of a Transaction's ConfigMaps. A name ends in text derived from the engine's key: no other writer can put a ConfigMap
// there in advance, and every process finds the name again. So a ConfigMap is ours by its name, never by its label.

import type { Packer } from '../../objects/cluster.ts';
import { type JsonObject, textAt } from '../../objects/json.ts';
import { limits } from '../../objects/limits.ts';

/** ConfigMaps of one snapshot, at most. */
export const mostParts: number = limits.snapshotParts.value;

/** The Transaction that a snapshot belongs to. */
export interface Owner {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

const suffixLength = 20;
const longestPrefix = 253 - '-rollback-'.length - suffixLength - `-${mostParts - 1}`.length;

/**
 * The possible names of a snapshot's first ConfigMap, one for each key. The first name is that of the current key; new snapshots
 * use it.
 */
export function snapshotNames({ namespace, name, uid }: Owner, packer: Packer): readonly [string, ...string[]] {
  const [current, ...others] = packer.derive(JSON.stringify([namespace, name, uid]));
  const named = (suffix: string): string => `${prefixOf(name)}-rollback-${suffix}`;
  return [named(current), ...others.map(named)];
}

// The cut must not leave a character at which a name may not end.
function prefixOf(name: string): string {
  return name.slice(0, longestPrefix).replace(/[^a-z0-9]+$/, '');
}

export function partName(base: string, part: number): string {
  return part === 0 ? base : `${base}-${part}`;
}

/** The number of the part with this name in the snapshot `base`; undefined for any other name. */
export function partNumber(name: string, base: string): number | undefined {
  if (name === base) return 0;
  const part = name.startsWith(`${base}-`) ? name.slice(base.length + 1) : '';
  return /^[1-9]\d?$/.test(part) && Number(part) < mostParts ? Number(part) : undefined;
}

/**
 * Whether a ConfigMap, or its metadata, is a part of a snapshot of that Transaction. `ref`: the snapshot that its status names. It
 * counts as ours too, even if the key that gave its name is gone.
 */
export function isSnapshotOf(configMap: JsonObject, owner: Owner, packer: Packer, ref?: { readonly name: string }): boolean {
  const [namespace, name] = [textAt(configMap, 'metadata', 'namespace'), textAt(configMap, 'metadata', 'name') ?? ''];
  if (namespace !== owner.namespace) return false;
  const named = ref?.name.startsWith(`${prefixOf(owner.name)}-rollback-`) ? [ref.name] : [];
  const bases = [...snapshotNames(owner, packer), ...named];
  return bases.some((base) => partNumber(name, base) !== undefined);
}
