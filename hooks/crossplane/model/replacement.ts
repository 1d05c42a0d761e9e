// A Replace: the tree of an installed package leaves, and the tree of another package takes its place.
import { isObject, type JsonObject, textAt } from '../../objects/json.ts';
import { packagesOf } from './holder.ts';
import { type Installed, readLock } from './lock.ts';
import type { Dependency } from './package.ts';
import { installOf, type PackageTransaction } from './package-transaction.ts';

type Requiring = Pick<Installed, 'source' | 'dependencies'>;

/** The sources of these packages, and of all packages that they require, directly or not, if they are in the list. */
export function reachableFrom(sources: Iterable<string>, packages: readonly Requiring[]): ReadonlySet<string> {
  const dependencies = new Map<string, readonly Dependency[]>(packages.map((one) => [one.source, one.dependencies]));
  const reached = new Set<string>();
  const open = [...sources];
  for (let source = open.pop(); source !== undefined; source = open.pop()) {
    if (reached.has(source) || !dependencies.has(source)) continue;
    reached.add(source);
    open.push(...(dependencies.get(source) ?? []).map((one) => one.package));
  }
  return reached;
}

/**
 * The packages of the Lock after a Replace. Somebody may have edited the Lock since the first deletion, which nothing undoes. So only
 * the entries of the two trees change.
 */
export function packagesAfter(ptx: Pick<PackageTransaction, 'wanted' | 'status'>, lock: JsonObject): readonly JsonObject[] {
  const { proposed = [], replaced = [] } = ptx.status;
  const read = readLock({ packages: proposed });
  const all = typeof read === 'string' ? [] : read;
  const tree = reachableFrom([installOf(ptx)?.reference.source ?? ''], all);
  const entries = new Map(all.filter(({ source }) => tree.has(source)).map(({ source, entry }) => [source, entry]));
  const sourceOf = (one: JsonObject): string => textAt(one, 'source') ?? '';
  const leaving = new Set(replaced.map(({ source }) => source));
  const present = packagesOf(lock).filter(isObject);
  const there = new Set(present.map(sourceOf));
  const staying = present.filter((one) => !leaving.has(sourceOf(one))).map((one) => entries.get(sourceOf(one)) ?? one);
  return [...staying, ...[...entries].filter(([source]) => !there.has(source)).map(([, entry]) => entry)];
}
