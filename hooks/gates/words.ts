// What a gate waits for, in words. They repeat the spec, never the object.
import type { Check } from '../model/gate.ts';
import { foreign } from '../model/words.ts';
import type { Look } from './finding.ts';

const longestValue = 100;

/** As it follows "expected": `condition Available to be True`. Of a sealed object no value is repeated, be it one of the spec. */
export function expectedOf({ gate: { ready, failed }, sealed }: Pick<Look, 'gate' | 'sealed'>): string {
  const wanted = ready === undefined ? 'it to be ready' : checkOf(ready, sealed);
  return failed === undefined ? wanted : `${wanted}, and not ${checkOf(failed, sealed)}`;
}

function checkOf(check: Check, sealed: boolean): string {
  switch (check.kind) {
    case 'condition':
      return foreign(`condition ${check.type} to be ${check.status}`, longestValue);
    case 'field':
      return foreign(`${check.path} to ${wantedOf(check, sealed)}`, longestValue);
    case 'expression':
      return sealed ? 'its expression to be true' : foreign(`${check.expression} to be true`, longestValue);
  }
}

function wantedOf({ value }: Extract<Check, { kind: 'field' }>, sealed: boolean): string {
  if (value === undefined) return 'have a value';
  return sealed ? 'have the value of the spec' : `be ${JSON.stringify(value)}`;
}
