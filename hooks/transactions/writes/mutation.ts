// Writes in order, each with its precondition. The next write may depend on the answer to the previous one, and on nothing else: if
// a process dies between two writes, the next process decides again from the objects in the API server.
import type { Write } from '../../objects/cluster.ts';
import type { JsonObject } from '../../objects/json.ts';

export interface Mutation {
  readonly write: Write;
  /** The next write, given the answer; undefined if there is none. */
  readonly next?: (answer: JsonObject) => Mutation | undefined;
  /** The next write if the API server refuses this one for good. If absent, the refusal makes the mutation fail. */
  readonly otherwise?: () => Mutation | undefined;
}
