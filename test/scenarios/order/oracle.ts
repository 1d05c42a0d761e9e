// What an object is to be once some of its Transactions are undone: as if these had never been. The rest is made again, on an
// object of its own that was created in this way; content and the owner of each field are compared.

import { hasManager } from '../../../hooks/objects/content/ownership.ts';
import { at, canonicalJson, type Json, type JsonObject, textAt, withKey } from '../../../hooks/objects/json.ts';
import { fieldManagers } from '../../../hooks/transactions/model/transaction.ts';
import { comparable } from '../../support/stage.ts';

/** A Transaction of a run: its number, and how its traces are named. */
export interface Known {
  readonly number: number;
  readonly name: string;
  readonly uid: string;
}

function managerOf(known: Known): string {
  return fieldManagers(known).forward;
}

/** Whether the object shows a write of it: an entry of its own or, under the manager that releases share, its mark. */
export function shows(object: JsonObject | undefined, known: Known): boolean {
  const appliedBy = textAt(object, 'metadata', 'annotations', 'tx.janus.io/applied-by') ?? '';
  return hasManager(object, [managerOf(known)]) || appliedBy.endsWith(`/${known.uid}`);
}

/** What an object looks like, with the names of this run taken out of it; `gone` where there is none. */
export function portraitOf(object: JsonObject | undefined, known: readonly Known[]): string {
  if (object === undefined) return 'gone';
  const plain = comparable(object, true);
  const metadata = at(plain, 'metadata');
  const named = withKey(plain as JsonObject, 'metadata', { ...(metadata as JsonObject), name: 'x', namespace: 'n' });
  const entries = (at(plain, 'managedFields') as readonly string[]).map((entry) => anonymous(entry, known)).sort();
  return anonymous(canonicalJson(withKey(named, 'managedFields', entries)), known);
}

function anonymous(text: string, known: readonly Known[]): string {
  return known.reduce(
    (state, one) =>
      state
        .replaceAll(managerOf(one), `transaction-${one.number}`)
        .replaceAll(`${one.name}/${one.uid}`, `name-${one.number}/${one.uid}`)
        .replaceAll(one.uid, `uid-${one.number}`),
    text,
  );
}

/** Which Transactions a sentence names, by their field managers or, under the manager that releases share, by their names. */
export function namedIn(text: string, known: readonly Known[]): readonly number[] {
  return known
    .filter((one) => text.includes(managerOf(one)) || new RegExp(`/${one.name}(?![\\w-])`).test(text))
    .map(({ number }) => number);
}

export function knownOf(transaction: JsonObject, number: number): Known {
  return { number, name: textAt(transaction, 'metadata', 'name') ?? '', uid: textAt(transaction, 'metadata', 'uid') ?? '' };
}

export function isUndone(item: Json | undefined): boolean {
  return at(item, 'rolledBack') === true;
}
