// What a gate waits for, in words. They repeat the spec, never the object.
import type { Check, Gate } from '../model/gate.ts';
import { foreign } from '../model/words.ts';

const longestValue = 100;

/** As it follows "expected": `condition Available to be True`. */
export function expectedOf({ ready, failed }: Gate): string {
  const wanted = ready === undefined ? 'it to be ready' : checkOf(ready);
  return failed === undefined ? wanted : `${wanted}, and not ${checkOf(failed)}`;
}

function checkOf(check: Check): string {
  switch (check.kind) {
    case 'condition':
      return foreign(`condition ${check.type} to be ${check.status}`, longestValue);
    case 'field':
      return check.value === undefined
        ? foreign(`${check.path} to have a value`, longestValue)
        : foreign(`${check.path} to be ${JSON.stringify(check.value)}`, longestValue);
    case 'expression':
      return foreign(`${check.expression} to be true`, longestValue);
  }
}
