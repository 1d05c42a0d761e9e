// The changes of a Transaction as operations with counts: `+1 ~2 -2`. Pure.
import { at, type Json, type JsonObject, listAt, textAt } from '../../hooks/objects/json.ts';
import { writtenChanges } from './view.ts';

interface Operations {
  readonly created: number;
  readonly changed: number;
  readonly deleted: number;
}

export function operationsOf(transaction: JsonObject): Operations {
  const items = listAt(transaction, 'status', 'items');
  const all = writtenChanges(transaction).map((change, index) => operationOf(change, items[index]));
  const count = (wanted: keyof Operations): number => all.filter((one) => one === wanted).length;
  return { created: count('created'), changed: count('changed'), deleted: count('deleted') };
}

function operationOf(change: Json, item: Json | undefined): keyof Operations {
  if (textAt(change, 'type') === 'Delete') return 'deleted';
  return isCreated(change, item) ? 'created' : 'changed';
}

/** An Apply has created its object if its item has the uid. */
export function isCreated(change: Json, item: Json | undefined): boolean {
  const type = textAt(change, 'type');
  return type === 'Create' || (type === 'Apply' && at(item, 'uid') !== undefined);
}

export function operationsText({ created, changed, deleted }: Operations): string {
  const parts = [
    ['+', created],
    ['~', changed],
    ['-', deleted],
  ] as const;
  return parts.flatMap(([sign, number]) => (number === 0 ? [] : [`${sign}${number}`])).join(' ');
}
