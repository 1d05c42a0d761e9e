// What has changed in a Transaction since the previous status, in words. Pure.
import { at, isList, isObject, type Json, type JsonObject, textAt } from '../../hooks/model/json.ts';
import { conditionOf } from '../../test/support/stage.ts';

interface News {
  readonly phase: string;
  /** `3/5`, as kubectl shows it. */
  readonly done: string;
  /** Empty if nothing has changed that a reader wants to know. */
  readonly message: string;
}

export function statusIn(transaction: JsonObject): JsonObject {
  const status = at(transaction, 'status');
  return isObject(status) ? status : {};
}

/** `before` is undefined at the first look; the Transaction may be older than the demo's watch. */
export function newsOf(transaction: JsonObject, before: JsonObject | undefined): News {
  const status = statusIn(transaction);
  const said = before !== undefined && messageIn(before) === messageIn(status) ? '' : messageIn(status);
  const told = before === undefined ? '' : [...movedItems(transaction, before), ...finished(status, before)].join(', ');
  return {
    phase: textAt(status, 'phase') ?? 'Pending',
    done: textAt(status, 'progress') ?? '',
    message: said === '' || told === '' ? said + told : `${said} (${told})`,
  };
}

function messageIn(status: JsonObject): string {
  return textAt(status, 'message') ?? 'created, waiting for the engine';
}

function finished(status: JsonObject, before: JsonObject): readonly string[] {
  const becameFinished = conditionOf(status, 'Finished') === 'True' && conditionOf(before, 'Finished') !== 'True';
  return becameFinished ? ['finished: the locks are released'] : [];
}

/** The changes that were made or undone. */
function movedItems(transaction: JsonObject, before: JsonObject): readonly string[] {
  const [then, now] = [itemsOf(before), itemsOf(statusIn(transaction))];
  const changes = at(transaction, 'spec', 'changes');
  if (then.length === 0 || !isList(changes)) return [];
  return changes.flatMap((change, index) => {
    const move = moveOf(then[index], now[index]);
    return move === '' ? [] : [`${move}: ${textAt(change, 'type')} ${targetIn(change)}`];
  });
}

/** `ConfigMap app-config`. An Apply without a target changes the object that its content names. */
export function targetIn(change: Json): string {
  const target = at(change, 'target');
  const named = target === undefined ? [at(change, 'content'), at(change, 'content', 'metadata')] : [target, target];
  return `${textAt(named[0], 'kind')} ${textAt(named[1], 'name')}`;
}

function itemsOf(status: JsonObject): readonly Json[] {
  const items = at(status, 'items');
  return isList(items) ? items : [];
}

function moveOf(then: Json | undefined, now: Json | undefined): string {
  const becameTrue = (mark: string): boolean => at(now, mark) === true && at(then, mark) !== true;
  if (becameTrue('committed')) return 'made';
  return becameTrue('rolledBack') && at(then, 'committed') === true ? 'undone' : '';
}
