// Everything in one run has a name that contains the run's, so that runs can go on in parallel and the audit log can be split.

export interface Names {
  /** Name of the Transaction. */
  readonly run: string;
  readonly rival: string;
  /** `a` does not exist at first, the others do. */
  readonly a: string;
  readonly b: string;
  readonly c: string;
  /** A Secret unless the story says otherwise: its values must appear nowhere else. */
  readonly d: string;
  /** The namespace of all that, and another one. */
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

/** A value that only readers of a Secret may see; the Secret holds it in base64. */
export function canaryOf({ run }: Pick<Names, 'run'>): string {
  return `canary of ${run}, to be shown nowhere`;
}
