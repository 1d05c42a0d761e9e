// Writes in order, each with its precondition. The next write may depend on the answer to the previous one, and on nothing else. If
// a process dies between two writes, the next process decides again from the objects in the API server.
import type { Answer, Write } from './cluster.ts';
import type { FailureKind } from './failure.ts';
import type { JsonObject } from './json.ts';

export interface Mutation {
  readonly write: Write;
  /** The next write, given the answer; undefined if no write follows. */
  readonly next?: (answer: JsonObject) => Mutation | undefined;
  /** The next write if the API server refuses this write for good. If absent, the refusal makes the mutation fail. */
  readonly otherwise?: () => Mutation | undefined;
  /** Failures that do not end a sequence: the write took effect before, or nothing that follows depends on it. */
  readonly settledBy?: readonly FailureKind[];
}

export type Writes =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'chain'; readonly mutation: Mutation }
  /** Independent of each other. */
  | { readonly kind: 'parallel'; readonly mutations: readonly Mutation[] }
  /** One after the other; the first failure that does not settle its mutation ends the sequence. */
  | { readonly kind: 'sequence'; readonly mutations: readonly Mutation[] };

export interface Attempt {
  readonly write: Write;
  readonly answer: Answer;
  /** The failure does not matter: `settledBy` of the mutation names it. */
  readonly isSettled?: true;
  /** The index of the change that the write belongs to. */
  readonly item?: number;
}

/** The writes that were tried, in order. If a chain or a sequence failed, its failure comes last. */
export type Outcome = readonly Attempt[];
