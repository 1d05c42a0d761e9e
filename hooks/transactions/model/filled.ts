// What the undo of a Create does with what others wrote into its object, such as what the installed program fills in.

import { at, isList, type Json } from '../../objects/json.ts';
import type { Change } from './change.ts';
import type { Transaction } from './transaction.ts';

/** `Keep` leaves the object; else it goes with what others wrote, or with what these managers wrote. */
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
