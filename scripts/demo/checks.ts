// What the demo claims, each claim checked against the cluster and told in a line. The exit code is theirs.
import { explain, print, verdict } from './terminal.ts';

export interface Checks {
  /** `found` is shown where the claim does not hold. */
  that(what: string, holds: boolean, found: unknown): void;
  /** Says how many hold; whether all do. */
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
