// Keeps compiled expressions for the next poll, because compiling takes many times as long as evaluating.
import { createLruCache } from '../../hooks/objects/lru-cache.ts';

/** A program takes about a hundred bytes for each character of its text. */
const mostCharacters = 256 * 1024;

/** Like `compile`, but it keeps the last results, up to this number of characters of text. */
export function keepPrograms<Program>(compile: (text: string) => Program, most = mostCharacters): (text: string) => Program {
  const programs = createLruCache<{ readonly text: string; readonly program: Program }>({
    most,
    weigh: ({ text }) => text.length,
  });
  return (text) => {
    const known = programs.get(text);
    if (known !== undefined) return known.program;
    const program = compile(text);
    programs.set(text, { text, program });
    return program;
  };
}
