// Everything in one run is named after it, so that runs can go on side by side and the audit log can be taken apart.

export interface Names {
  /** Name of the Transaction. */
  readonly run: string;
  readonly rival: string;
  /** `a` is not there at the beginning, the others are. */
  readonly a: string;
  readonly b: string;
  readonly c: string;
  /** A Secret where the story says nothing else: what it holds must be found nowhere else. */
  readonly d: string;
  /** Where all of that is, and another namespace. */
  readonly namespace: string;
  readonly elsewhere: string;
}

interface Homes {
  readonly namespace: string;
  readonly elsewhere: string;
}

export function namesOf(number: number, { namespace, elsewhere }: Homes): Names {
  const run = `run${number}`;
  const objects = { a: `${run}-a`, b: `${run}-b`, c: `${run}-c`, d: `${run}-d` };
  return { run, rival: `${run}-rival`, ...objects, namespace, elsewhere };
}

/** What no one but the owner of a Secret may see; in its data it stands in base64. */
export function canaryOf({ run }: Pick<Names, 'run'>): string {
  return `canary of ${run}, to be seen by nobody`;
}
