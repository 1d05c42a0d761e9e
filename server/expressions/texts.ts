// Limits the text that an evaluation makes. Texts can double with each step of a loop, and the limit of a thread's heap does not count
// the memory of long texts.
import { type CelFunc, CelScalar, type CelValue, celError, isCelError, isCelList } from '@bufbuild/cel';
import { strings } from '@bufbuild/cel/ext';

/** Characters, bytes, or items of lists that one evaluation may make of texts. An object has 1.5 MB at most. */
export const mostCharacters = 4 * 1024 * 1024;

interface Texts {
  /** The functions. Those that make texts have a bound. */
  readonly functions: CelFunc[];
  /** Call it before each evaluation. */
  reset(): void;
}

/** `excess` is the id of the error if an evaluation makes more text. */
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
