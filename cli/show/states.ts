// The present state of each object that a Transaction changed. Pure.

import { describe } from '../../hooks/objects/reference.ts';
import { clean } from '../../hooks/objects/words.ts';
import type { ChangeStates } from '../../hooks/transactions/inspection.ts';
import { fieldLines } from './fields.ts';
import { paint, type Style } from './style.ts';

export function statesLines(states: readonly ChangeStates[], style: Style): readonly string[] {
  return states.flatMap((one) => {
    const { target, kind, isAsLeft, fields, why } = one;
    const name = describe(target);
    if (kind !== 'shown') return [`? ${name}: ${clean(why ?? '')}`];
    const head = isAsLeft === true ? `  ${name}: as it was left` : paint(style, 'yellow', `! ${name}: changed since`);
    return [head, ...fieldLines(fields, style, true)];
  });
}
