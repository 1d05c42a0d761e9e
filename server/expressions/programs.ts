// Compiled expressions, kept for the next poll: to compile one takes many times as long as to evaluate it.
import { createLruCache } from '../../hooks/objects/lru-cache.ts';

/** A program takes about a hundred bytes for each character of its text. */
const mostCharacters = 256 * 1024;

/** As `compile`, of which it keeps the last results, of so many characters of text in all. */
export function keepPrograms<Program>(compile: (text: string) => Program, most = mostCharacters): (text: string) => Program {
  const programs = createLruCache<{ readonly text: string; readonly program: Program }>({
    most,
    weigh: ({ text }) => text.length,
  });
  return (text) => {
    const { program } = programs.get(text) ?? { program: compile(text) };
    programs.set(text, { text, program });
    return program;
  };
}
