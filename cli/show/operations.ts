// What becomes of the objects of a Transaction, by their content. Plan, result, history and the plan of an undo count by this rule:
// `changed` means that a field of the content is another one, not only who owns it or a mark of the engine. Pure.
import type { Operation as PlannedOperation } from '../../hooks/transactions/inspection.ts';
import type { ChangeView } from './view.ts';

const operations = ['created', 'changed', 'unchanged', 'deleted'] as const;

type Operation = (typeof operations)[number];

export type Operations = Readonly<Record<Operation, number>>;

export const operationsOfPlan = {
  create: 'created',
  update: 'changed',
  none: 'unchanged',
  delete: 'deleted',
} as const satisfies Readonly<Record<PlannedOperation, Operation>>;

/** Until a change is applied: what its type says. An object that the change has recreated is a changed one. */
export function operationOf({ type, isMade, isRecreated, isUnchanged }: ChangeView): Operation {
  if (isRecreated) return 'changed';
  if (type === 'Delete') return 'deleted';
  if (isMade || type === 'Create') return 'created';
  return isUnchanged ? 'unchanged' : 'changed';
}

export function counted(all: readonly Operation[]): Operations {
  const count = (wanted: Operation): number => all.filter((one) => one === wanted).length;
  return { created: count('created'), changed: count('changed'), unchanged: count('unchanged'), deleted: count('deleted') };
}

export function operationsOf(changes: readonly ChangeView[]): Operations {
  return counted(changes.map(operationOf));
}

/** `2 created, 1 changed`, or `nothing to change`. */
export function operationWords(counts: Operations): string {
  const some = operations.filter((one) => counts[one] > 0);
  return some.length === 0 ? 'nothing to change' : some.map((one) => `${counts[one]} ${one}`).join(', ');
}

const signs: Readonly<Record<Operation, string>> = { created: '+', changed: '~', unchanged: '=', deleted: '-' };

/** `+1 ~2 =9 -2` */
export function operationsText(counts: Operations): string {
  return operations.flatMap((one) => (counts[one] === 0 ? [] : [`${signs[one]}${counts[one]}`])).join(' ');
}
