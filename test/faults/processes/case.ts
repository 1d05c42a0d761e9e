// One thing to try with real processes, and what it belongs to.
import type { Site } from './site.ts';

/** Says something beside the judgement. */
export type Note = (text: string) => void;

export interface ProcessCase {
  readonly id: string;
  /** Gives the violations. */
  readonly run: (site: Site, note: Note) => Promise<readonly string[]>;
}

export interface ProcessScenario {
  readonly id: string;
  readonly what: string;
  /** Hooks of each site, and the way to the API server that they take. */
  readonly hooks: number;
  /** Sites at once; 1 for what the whole control plane suffers from. */
  readonly mostAtOnce: number;
  /** The cases; what it takes to know them may be tried on the site. */
  readonly casesOn: (site: Site) => Promise<readonly ProcessCase[]>;
}
