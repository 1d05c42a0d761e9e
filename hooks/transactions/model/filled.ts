// The undo of a Create, and the values that others wrote into its object. For example, the installed program fills in such values.

import { at, isList, type Json } from '../../objects/json.ts';
import type { Change } from './change.ts';
import type { Transaction } from './transaction.ts';

/** `Keep` leaves the object. Otherwise the undo deletes it with all others' values, or only with the values of these managers. */
export type Filled = 'Keep' | 'Delete' | readonly string[];

/** What the change says, or else the spec. */
export function filledOf({ undo }: Pick<Transaction, 'undo'>, change: Pick<Change, 'undo'> | undefined): Filled {
  return filledIn(change?.undo) ?? filledIn(undo) ?? 'Keep';
}

function filledIn(undo: Json | undefined): Filled | undefined {
  const choice = at(undo, 'foreignContent');
  if (choice === 'Keep') return choice;
  if (choice !== 'Delete') return undefined;
  const managers = at(undo, 'foreignContentManagers');
  return managers === undefined || managers === null ? choice : namesIn(managers);
}

function namesIn(managers: Json): readonly string[] {
  return isList(managers) ? managers.filter((name) => typeof name === 'string') : [];
}
