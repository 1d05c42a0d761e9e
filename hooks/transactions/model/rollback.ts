// A rollback (`spec.rollback`): one Transaction that brings objects back to the state after an earlier release. The spec names the release.
// The engine finds the newer Transactions and their objects, and stores both in `status.rollback` before it takes a lock. Then the
// Transaction has one change of the type Restore for each object. decodeTransaction gives these as `changes`.

import { at, isList, isObject, type Json, type JsonObject, textAt } from '../../objects/json.ts';
import { limits } from '../../objects/limits.ts';
import { type Change, type Target, type Way, wayIn } from './change.ts';

/** As the user wrote it. */
export interface Rollback {
  /** Name of the Transaction that stays; empty for the state before the first. */
  readonly to: string;
  /** Objects as KIND[.GROUP]/[NAMESPACE/]NAME. */
  readonly keep: readonly string[];
  readonly overwrite: readonly string[];
  readonly isPartial: boolean;
  /** Of the plan that the user has seen. */
  readonly digest?: string;
}

/** A Transaction that the rollback undoes. */
interface Undone {
  readonly name: string;
  readonly uid: string;
}

interface RestoredObject extends Target {
  readonly way: Way;
  readonly isSealed: boolean;
}

/** What the engine has found. */
export interface RollbackSet {
  /** The newest first. */
  readonly undone: readonly Undone[];
  readonly objects: readonly RestoredObject[];
}

/** Transactions that one rollback undoes, at most. */
export const mostUndone: number = limits.undone.value;

export function rollbackIn(spec: Json): { readonly rollback?: Rollback } {
  const found = at(spec, 'rollback');
  if (!isObject(found)) return {};
  const digest = textAt(found, 'digest');
  const rollback: Rollback = {
    to: textAt(found, 'to') ?? '',
    keep: namesIn(at(found, 'keep')),
    overwrite: namesIn(at(found, 'overwrite')),
    isPartial: at(found, 'partial') === true,
    ...(digest === undefined ? {} : { digest }),
  };
  return { rollback };
}

function namesIn(names: Json | undefined): readonly string[] {
  return isList(names) ? names.filter((name) => typeof name === 'string') : [];
}

/** A rollback that is Committed. */
interface Undoing {
  readonly uid: string;
  /** uids of the Transactions that it has undone. */
  readonly undoes: ReadonlySet<string>;
}

/** By uid of each Transaction that is undone: the rollback that has undone it. A rollback that another one has undone counts no more. */
export function undoneBy<Rollback extends Undoing>(rollbacks: readonly Rollback[]): ReadonlyMap<string, Rollback> {
  const known = new Map<Rollback, boolean>();
  const stands = (one: Rollback): boolean => {
    const found = known.get(one);
    if (found !== undefined) return found;
    // A forged cycle ends here.
    known.set(one, false);
    const answer = !rollbacks.some((other) => other.undoes.has(one.uid) && stands(other));
    known.set(one, answer);
    return answer;
  };
  return new Map(rollbacks.filter(stands).flatMap((one) => [...one.undoes].map((uid) => [uid, one] as const)));
}

/** One change for each object. */
export function restoresOf({ objects }: RollbackSet): readonly Change[] {
  return objects.map(({ way, isSealed, ...target }) => ({
    type: 'Restore',
    target,
    content: undefined,
    restore: { way, isSealed },
  }));
}

export function encodeRollbackSet({ undone, objects }: RollbackSet): JsonObject {
  return {
    undone: undone.map((one) => ({ ...one })),
    objects: objects.map(({ isSealed, ...rest }) => ({ ...rest, ...(isSealed ? { sealed: true } : {}) })),
  };
}

/** Undefined if `encodeRollbackSet` does not make such a value. */
export function rollbackSetIn(wire: Json | undefined): RollbackSet | undefined {
  const [undone, objects] = [at(wire, 'undone'), at(wire, 'objects')];
  if (!isList(undone) || !isList(objects)) return undefined;
  const found = {
    undone: undone.flatMap((one) => {
      const [name, uid] = [textAt(one, 'name'), textAt(one, 'uid')];
      return name === undefined || uid === undefined ? [] : [{ name, uid }];
    }),
    objects: objects.flatMap(objectIn),
  };
  return found.undone.length === undone.length && found.objects.length === objects.length ? found : undefined;
}

function objectIn(wire: Json): readonly RestoredObject[] {
  const [apiVersion, kind, name] = [textAt(wire, 'apiVersion'), textAt(wire, 'kind'), textAt(wire, 'name')];
  const [namespace, way] = [textAt(wire, 'namespace'), wayIn('Restore', at(wire, 'way'))];
  if (apiVersion === undefined || kind === undefined || name === undefined || way === undefined) return [];
  const place = namespace === undefined ? {} : { namespace };
  return [{ apiVersion, kind, name, ...place, way, isSealed: at(wire, 'sealed') === true }];
}
