// The expressions of gates, and their results. The engine reports before the first change whether it can evaluate them.
//
// All Transactions share one thread, and their namespaces have turns. A call waits half a second for its turn at most.

import type { Clock, ExpressionResult, Expressions, Requester } from '../../objects/cluster.ts';
import { type Failure, lateTurn } from '../../objects/failure.ts';
import type { JsonObject } from '../../objects/json.ts';
import { foreign } from '../../objects/words.ts';
import { type Fault, fault } from '../checks/fault.ts';
import { decodeGate } from '../model/gate.ts';
import type { Transaction } from '../model/transaction.ts';
import { createPatience } from './patience.ts';

const longestWhy = 300;

interface Placed {
  readonly index: number;
  readonly path: string;
  readonly text: string;
}

/** The same sentence for each of them: a status that changes wakes Metacontroller at once. */
const late = lateTurn('the expressions of its gates are compiled after those of other Transactions');

/** A fault for each text that is not an expression. Without expressions in the spec nothing is loaded. */
export async function expressionFaults(
  expressions: Expressions | undefined,
  transaction: Transaction,
  clock: Pick<Clock, 'monotonic'>,
): Promise<{ readonly faults: readonly Fault[]; readonly trouble?: Failure }> {
  const patience = createPatience(clock);
  const faults: Fault[] = [];
  for (const { index, path, text } of transaction.changes.flatMap((_, at) => placed(transaction, at))) {
    if (expressions === undefined) {
      faults.push(fault('Invalid', `${path}: this engine evaluates no expressions`, index));
      continue;
    }
    const compiled = await patience((wait) => expressions.compile(text, transaction, wait));
    if (compiled === 'late') return { faults: [], trouble: late };
    if (compiled.why !== undefined) faults.push(noExpression(path, compiled.why, index));
  }
  return { faults };
}

/** Ms for all expressions of one attempt: a call must not wait for hundreds of slow expressions. */
const longest = 3_000;

/** Evaluates an expression over an object; `late` if the attempt has no time left for it. */
export type Evaluate = (expression: string, object: JsonObject) => Promise<ExpressionResult | 'late'>;

/** For one attempt: its expressions, one after the other. The time begins with the first expression, which always has its turn. */
export function evaluateInTurn(
  expressions: Expressions | undefined,
  clock: Pick<Clock, 'monotonic'>,
  requester: Requester,
): Evaluate {
  if (expressions === undefined) return async () => ({ kind: 'broken', message: 'this process evaluates no expressions' });
  let until: number | undefined;
  let last: Promise<unknown> = Promise.resolve();
  return (expression, object) => {
    const next = last.then(async (): Promise<ExpressionResult | 'late'> => {
      if (until !== undefined && clock.monotonic() >= until) return 'late';
      until ??= clock.monotonic() + longest;
      return expressions.evaluate(expression, object, requester);
    });
    last = next.catch(() => undefined);
    return next;
  };
}

function placed({ changes }: Transaction, index: number): readonly Placed[] {
  const gate = decodeGate(changes[index]?.gate, 'AfterChange');
  return (['ready', 'failed'] as const).flatMap((name) => {
    const check = gate?.[name];
    const path = `spec.changes[${index}].gate.${name}.expression`;
    return check?.kind === 'expression' ? [{ index, path, text: check.expression }] : [];
  });
}

function noExpression(path: string, why: string, index: number): Fault {
  return fault('Invalid', `${path}: ${foreign(why, longestWhy)}; write an expression in CEL over the variable object`, index);
}
