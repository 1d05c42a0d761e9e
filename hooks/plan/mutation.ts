// The seam to the world: writes in order, each with its precondition. The next one may depend on the answer to the last,
// purely: a step that dies in between is decided anew from what the API server holds.

import type { Fault } from '../checks/fault.ts';
import type { Answer, Write } from '../cluster.ts';
import type { JsonObject } from '../model/json.ts';

export interface Mutation {
  readonly write: Write;
  /** What follows, given the answer; undefined when that was all. */
  readonly next?: (answer: JsonObject) => Mutation | undefined;
  /** What follows when the API server refuses the write for good: where absent, the mutation has failed. */
  readonly otherwise?: () => Mutation | undefined;
}

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
