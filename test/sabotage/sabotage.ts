// Deliberate faults: each is a small patch to a copy of the sources, and the tests that it names must notice it. A fault that no
// test notices is a gap in the suite.

export interface Sabotage {
  /** For `--only`. */
  readonly name: string;
  /** What the fault does, in words. */
  readonly fault: string;
  readonly edits: readonly Edit[];
  /** Test files, the cheapest first; one of them must fail. */
  readonly caughtBy: readonly string[];
}

interface Edit {
  readonly file: string;
  /** Must occur exactly once in the file. */
  readonly find: string;
  readonly replace: string;
}

/** The source with the edit made. Throws an error that says what is wrong with the edit if it does not apply. */
export function edited(text: string, { file, find, replace }: Edit): string {
  const found = text.split(find).length - 1;
  if (found !== 1) throw new Error(`${file} holds ${found} times, expected once: ${find}; write the edit again from the source`);
  if (find === replace) throw new Error(`${file}: the edit changes nothing: ${find}`);
  return text.replace(find, () => replace);
}
