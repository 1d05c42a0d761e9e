// The present state of each object that a Transaction changed. Pure.
import { describe } from '../../hooks/objects/reference.ts';
import { clean } from '../../hooks/objects/words.ts';
import type { DriftedField, ObjectState } from '../../hooks/transactions/inspection.ts';
import { fieldLines } from './fields.ts';
import { paint, type Style } from './style.ts';

const marks: Readonly<Record<ObjectState['state'], readonly [string, string]>> = {
  asReleased: [' ', 'as released'],
  changed: ['~', 'changed since'],
  deleted: ['-', 'deleted since'],
  created: ['+', 'created since'],
  sealed: [' ', 'not compared'],
  unknown: ['?', 'unknown'],
};

/** The objects that differ come first. `isReleased`: whether the Transaction is Committed, and not undone. */
export function statesLines(states: readonly ObjectState[], style: Style, isReleased: boolean): readonly string[] {
  const same = states.filter(({ state }) => state === 'asReleased' || state === 'sealed');
  return [...states.filter((one) => !same.includes(one)), ...same].flatMap((one) => {
    const [sign, usual] = marks[one.state];
    const words = one.state === 'asReleased' && !isReleased ? 'not released: as the Transaction left it' : usual;
    const head = clean(`${sign} ${describe(one.target)}: ${words}${one.why === undefined ? '' : `: ${one.why}`}`);
    return [same.includes(one) ? head : paint(style, 'yellow', head), ...fieldLines(one.fields, style, byOf)];
  });
}

function byOf(field: DriftedField): string {
  const by = field.by.length > 0 ? field.by.join(', ') : field.now === undefined ? 'removed' : 'unknown';
  return ` (${clean(by)})`;
}
