// Writes in order, each with its precondition. The next one may depend on the answer to the last, purely: a step that dies in
// between is decided again from what the API server holds.
import type { Write } from '../cluster.ts';
import type { JsonObject } from '../model/json.ts';

export interface Mutation {
  readonly write: Write;
  /** What follows, given the answer; undefined when that was all. */
  readonly next?: (answer: JsonObject) => Mutation | undefined;
  /** What follows when the API server refuses the write for good: where absent, the mutation has failed. */
  readonly otherwise?: () => Mutation | undefined;
}
