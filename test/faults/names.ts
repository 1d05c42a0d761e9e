// Everything in one run is named after it, so that runs can go on side by side and the audit log can be taken apart.

export interface Names {
  /** Name of the Transaction. */
  readonly run: string;
  readonly rival: string;
  /** `a` is not there at the beginning, the others are. */
  readonly a: string;
  readonly b: string;
  readonly c: string;
  readonly d: string;
}

export function namesOf(number: number): Names {
  const run = `run${number}`;
  return { run, rival: `${run}-rival`, a: `${run}-a`, b: `${run}-b`, c: `${run}-c`, d: `${run}-d` };
}
