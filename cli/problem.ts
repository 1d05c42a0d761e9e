// A Problem ends a command early. Its message is one line: what failed, where, and what the user does next.

/** Exit codes. `codeOfEnd` (show/end.ts) has the exit codes of a followed Transaction. */
export const exits = { done: 0, notDone: 1, wrongUse: 64, interrupted: 130 } as const;

export class Problem extends Error {
  readonly code: number;

  /** `sentence`: one line for the user. */
  constructor(sentence: string, code: number = exits.notDone) {
    super(sentence);
    this.code = code;
  }
}

/** A list of the cluster that the user may not read, or that is too large: the list of a namespace may succeed. */
export class NeedsNamespace extends Problem {}

/** The command line itself is wrong. */
export function wrongUse(sentence: string): Problem {
  return new Problem(sentence, exits.wrongUse);
}

/** The code of an error of the system, such as ENOENT; `otherwise` for any other. */
export function codeOf(error: unknown, otherwise: string): string {
  return error instanceof Error && 'code' in error ? String(error.code) : otherwise;
}
