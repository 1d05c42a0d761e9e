// What a gate waits for, in words. They repeat the spec, never the object; and of a sealed one no value of the spec either: together with
// what was found it would tell what the object holds.

import { foreign } from '../../objects/words.ts';
import type { Check } from '../model/gate.ts';
import type { Look } from './finding.ts';

const longestValue = 100;

/** As it follows "expected": `condition Available to be True`. */
export function expectedOf({ gate: { ready, failed }, sealed }: Pick<Look, 'gate' | 'sealed'>): string {
  const wanted = ready === undefined ? 'it to be ready' : checkOf(ready, sealed);
  return failed === undefined ? wanted : `${wanted}, and not ${checkOf(failed, sealed)}`;
}

function checkOf(check: Check, sealed: boolean): string {
  switch (check.kind) {
    case 'condition':
      return foreign(`condition ${check.type} to be ${check.status}`, longestValue);
    case 'field':
      return foreign(`${check.path} ${wantedOf(check, sealed)}`, longestValue);
    case 'expression':
      return sealed ? 'its expression to be true' : foreign(`${check.expression} to be true`, longestValue);
  }
}

function wantedOf({ value }: Extract<Check, { readonly kind: 'field' }>, sealed: boolean): string {
  if (value === undefined) return 'to have a value';
  return sealed ? 'to have the value that it names' : `to be ${JSON.stringify(value)}`;
}
