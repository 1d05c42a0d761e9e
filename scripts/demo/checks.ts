// The claims of the demo. Each is checked against the cluster and printed as a line; together they decide the exit code.
import { explain, print, verdict } from './terminal.ts';

export interface Checks {
  /** `found` is printed if the claim is wrong. */
  that(what: string, holds: boolean, found: unknown): void;
  /** Prints how many claims are right; returns whether all are. */
  conclude(): boolean;
}

export function createChecks(): Checks {
  let [made, held] = [0, 0];
  return {
    that(what, holds, found) {
      made += 1;
      if (holds) held += 1;
      verdict(what, holds, `found: ${typeof found === 'string' ? found : JSON.stringify(found)}`);
    },
    conclude() {
      print();
      explain(held === made ? `All ${made} checks are ok.` : `${made - held} of ${made} checks FAILED: see above.`);
      return held === made;
    },
  };
}
