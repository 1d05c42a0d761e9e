// The seam to the world: what is to be written, and what came of it.

import type { Fault } from '../checks/fault.ts';
import type { Answer, Write } from '../cluster.ts';
import type { Mutation } from '../writes/mutation.ts';

export type Plan =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'chain'; readonly mutation: Mutation }
  /** Independent of each other. */
  | { readonly kind: 'parallel'; readonly mutations: readonly Mutation[] }
  /** In that order, and no further than the first failure. */
  | { readonly kind: 'sequence'; readonly writes: readonly Write[] }
  /** It turned out that the step cannot be made. */
  | { readonly kind: 'refused'; readonly faults: readonly Fault[] };

export interface Attempt {
  readonly write: Write;
  readonly answer: Answer;
  /** The change that it is about, by its index. */
  readonly item?: number;
}

/** What was tried, in order; a chain or a sequence that failed ends with the failure. */
export type Outcome = readonly Attempt[];
