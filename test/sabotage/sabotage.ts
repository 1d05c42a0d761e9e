// Deliberate faults: each a small patch to a copy of the sources, which the tests that it names must notice. What no test
// notices is a hole in the suite.

export interface Sabotage {
  /** For `--only`. */
  readonly name: string;
  /** What is wrong then, in words. */
  readonly fault: string;
  readonly edits: readonly Edit[];
  /** Test files, the cheapest first; one of them must fail. */
  readonly caughtBy: readonly string[];
}

interface Edit {
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
}

/** The source with the edit made; an error that says what is wrong with the edit where it cannot be made. */
export function edited(text: string, { file, find, replace }: Edit): string {
  const found = text.split(find).length - 1;
  if (found !== 1) throw new Error(`${file} holds ${found} times, expected once: ${find}; write the edit anew after the source`);
  if (find === replace) throw new Error(`${file}: the edit changes nothing: ${find}`);
  return text.replace(find, () => replace);
}
