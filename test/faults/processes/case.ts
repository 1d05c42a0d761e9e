// One case with real processes, and the scenario that it belongs to.
import type { Site } from './site.ts';

/** Reports something besides the violations. */
export type Note = (text: string) => void;

export interface ProcessCase {
  readonly id: string;
  /** Returns the violations. */
  readonly run: (site: Site, note: Note) => Promise<readonly string[]>;
}

export interface ProcessScenario {
  readonly id: string;
  readonly what: string;
  /** The hooks of each site, and their path to the API server. */
  readonly hooks: number;
  /** Parallel sites; 1 for faults that hit the whole control plane. */
  readonly mostAtOnce: number;
  /** The cases; finding them may need a run on the site. */
  readonly casesOn: (site: Site) => Promise<readonly ProcessCase[]>;
}
