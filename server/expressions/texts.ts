// How much text an evaluation makes is bounded: texts double with each step of a loop, and a long one takes memory that no limit of
// a thread's heap counts.
import { type CelFunc, CelScalar, type CelValue, celError, isCelError, isCelList } from '@bufbuild/cel';
import { strings } from '@bufbuild/cel/ext';

/** Characters, or bytes, or items of lists that are made of a text, in one evaluation. An object has 1.5 MB at most. */
export const mostCharacters = 4 * 1024 * 1024;

interface Texts {
  /** The functions, those bounded that make texts. */
  readonly functions: CelFunc[];
  /** An evaluation begins. */
  reset(): void;
}

/** `excess` is the id of the error where an evaluation makes more. */
export function boundTexts(functions: Iterable<CelFunc>, excess: bigint): Texts {
  let made = 0;
  const bounded = (func: CelFunc): CelFunc => {
    const call: CelFunc['call'] = (id, target, args) => {
      const result = func.call(id, target, args);
      if (result !== undefined && !isCelError(result)) made += lengthOf(result);
      return made > mostCharacters ? celError('too much text', excess) : result;
    };
    return Object.create(func, { call: { value: call } });
  };
  return {
    functions: [...functions].map((func) => (makesText(func) ? bounded(func) : func)),
    reset: () => {
      made = 0;
    },
  };
}

function makesText(func: CelFunc): boolean {
  return func.result === CelScalar.STRING || func.result === CelScalar.BYTES || strings.includes(func);
}

function lengthOf(value: CelValue): number {
  if (typeof value === 'string' || value instanceof Uint8Array) return value.length;
  return isCelList(value) ? value.size : 0;
}
