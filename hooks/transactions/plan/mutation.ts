// The writes of a step, and their answers.

import type { Answer, Write } from '../../objects/cluster.ts';
import type { Fault } from '../checks/fault.ts';
import type { Mutation } from '../writes/mutation.ts';

export type Plan =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'chain'; readonly mutation: Mutation }
  /** Independent of each other. */
  | { readonly kind: 'parallel'; readonly mutations: readonly Mutation[] }
  /** One after the other; the first failure ends the sequence. */
  | { readonly kind: 'sequence'; readonly writes: readonly Write[] }
  /** The step cannot be made. */
  | { readonly kind: 'refused'; readonly faults: readonly Fault[] };

export interface Attempt {
  readonly write: Write;
  readonly answer: Answer;
  /** The index of the change that the write belongs to. */
  readonly item?: number;
}

/** What was tried, in order. If a chain or a sequence failed, its failure comes last. */
export type Outcome = readonly Attempt[];
