// Waves (`changes[].wave`): which changes the engine may send side by side, and which waves it refuses.
//
// Neighbours of one kind in a wave form a group. The engine sends the changes of a group side by side, except those that need another
// change of the group. The next wave begins when every change of this wave has ended well and its gates have passed (model/gated.ts).
import { isObject, type Json } from '../../objects/json.ts';
import { describe, groupOf, kindOfReference, type Reference } from '../../objects/reference.ts';
import { foreign } from '../../objects/words.ts';
import { type Change, lastWave } from '../model/change.ts';
import type { SnapshotEntry } from '../model/entry.ts';
import type { Transaction } from '../model/transaction.ts';
import { type Fault, fault } from './fault.ts';
import { servicesCalledBy } from './needed-names.ts';
import { type Needs, needsOf } from './needs.ts';

/** A change with its target. */
interface Resolved {
  readonly index: number;
  readonly change: Change;
  readonly target: Reference;
}

/** What is wrong with the waves themselves: the first fault. */
export function waveFaults({ changes }: Pick<Transaction, 'changes'>): readonly Fault[] {
  const isWithout = changes.every(({ wave }) => wave === undefined);
  const first = isWithout ? -1 : changes.findIndex(({ wave }, index) => !isWave(wave) || isFalling(changes, index));
  const wave = changes[first]?.wave;
  if (first < 0) return [];
  const where = `spec.changes[${first}].wave`;
  if (wave === undefined) return [fault('Invalid', `${where} is missing: write a wave in every change, or in none`, first)];
  if (!isWave(wave)) {
    const found = foreign(JSON.stringify(wave), 60);
    return [fault('Invalid', `${where}: expected an integer from 0 to ${lastWave}, found ${found}`, first)];
  }
  const message = `${where} is ${wave}, after ${changes[first - 1]?.wave}: waves do not fall along the list, so move the change up, or raise its wave`;
  return [fault('Invalid', message, first)];
}

function isWave(wave: Json | undefined): wave is number {
  return typeof wave === 'number' && Number.isInteger(wave) && wave >= 0 && wave <= lastWave;
}

function isFalling(changes: readonly Change[], index: number): boolean {
  const [before, wave] = [changes[index - 1]?.wave, changes[index]?.wave];
  return isWave(before) && isWave(wave) && wave < before;
}

/** Kinds that the API server itself looks up before it takes an object that names them. */
const lookedUp: readonly string[] = [
  '/Namespace',
  'apiextensions.k8s.io/CustomResourceDefinition',
  'rbac.authorization.k8s.io/Role',
  'rbac.authorization.k8s.io/ClusterRole',
];
const lookedUpForPods: readonly string[] = ['/ServiceAccount', 'scheduling.k8s.io/PriorityClass', 'node.k8s.io/RuntimeClass'];

/** Changes that come before a change that they need: in an earlier wave, or earlier in the list if the API server looks for it. */
export function waveOrderFaults(resolved: readonly Resolved[]): readonly Fault[] {
  if (resolved.every(({ change }) => change.wave === undefined)) return [];
  const byIndex = new Map(resolved.map((one) => [one.index, one]));
  const needs = needsOf(resolved.map(({ index, target, change }) => ({ index, target, object: objectOf(change) })));
  return resolved.flatMap((one) =>
    [...(needs.get(one.index) ?? [])].flatMap((index) => {
      const needed = byIndex.get(index);
      if (needed === undefined || !isTooLate(one, needed)) return [];
      const [name, other] = [describe(one.target), describe(needed.target)];
      const message = `spec.changes[${one.index}]: ${name} needs ${other}, which is spec.changes[${index}] in wave ${needed.change.wave}: list ${other} before ${name}, in wave ${one.change.wave} or an earlier one`;
      return [fault('Invalid', message, one.index)];
    }),
  );
}

function objectOf({ content, target: { apiVersion, kind } }: Change) {
  return isObject(content) ? { ...content, apiVersion, kind } : undefined;
}

function isTooLate({ index, change, target }: Resolved, needed: Resolved): boolean {
  if (needed.index < index) return false;
  const kind = kindOfReference(needed.target);
  // The parts of an aggregated ClusterRole may come later.
  if (
    (lookedUp.includes(kind) && kind !== kindOfReference(target)) ||
    (kindOfReference(target) === '/Pod' && lookedUpForPods.includes(kind))
  )
    return true;
  // What the API server calls may come later: it is called for other objects.
  const isCalled = servicesCalledBy(objectOf(change)).length > 0;
  return !isCalled && Number(needed.change.wave) > Number(change.wave);
}

const knownNeeds = new WeakMap<readonly SnapshotEntry[], Needs>();

function needsAmong(entries: readonly SnapshotEntry[]): Needs {
  const found =
    knownNeeds.get(entries) ??
    needsOf(
      entries.map(({ index, target, type, prior, expected }) => ({
        index,
        target,
        object: type === 'Delete' ? prior : expected,
      })),
    );
  knownNeeds.set(entries, found);
  return found;
}

/** Of these changes, in their order: those of one kind and wave of the first one, without those that need another of them. */
export function sideBySide(
  changes: Transaction['changes'],
  entries: readonly SnapshotEntry[],
  indexes: readonly number[],
): readonly number[] {
  const [first = -1] = indexes;
  const leader = changes[first];
  if (leader?.wave === undefined || isAlone(entries[first])) return [first];
  const end = indexes.findIndex((index) => !isNeighbour(leader, changes[index]));
  const neighbours = end < 0 ? indexes : indexes.slice(0, end);
  const needs = needsAmong(entries);
  const isFree = (index: number, group: readonly number[]): boolean =>
    !group.some((other) => needs.get(index)?.has(other) === true || needs.get(other)?.has(index) === true);
  const group: number[] = [];
  for (const index of neighbours) if (!isAlone(entries[index]) && isFree(index, group)) group.push(index);
  return group;
}

function isNeighbour(one: Change, other: Change | undefined): boolean {
  if (other === undefined) return false;
  const isKind = one.target.kind === other.target.kind && groupOf(one.target.apiVersion) === groupOf(other.target.apiVersion);
  return isKind && one.wave === other.wave;
}

/** A recreation, and a change whose dry run is due in its turn. */
function isAlone(entry: SnapshotEntry | undefined): boolean {
  return entry === undefined || entry.recreates === true || entry.deferred === true;
}
