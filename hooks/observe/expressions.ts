// Whether the expressions of gates can be evaluated: said before anything is changed.
import { type Fault, fault } from '../checks/fault.ts';
import type { Expressions } from '../cluster.ts';
import { decodeGate } from '../model/gate.ts';
import type { Transaction } from '../model/transaction.ts';
import { foreign } from '../model/words.ts';

const longestWhy = 300;

interface Placed {
  readonly index: number;
  readonly path: string;
  readonly text: string;
}

/** A fault for each expression that is none. Without expressions in the spec nothing is loaded. */
export async function expressionFaults(
  expressions: Expressions | undefined,
  transaction: Transaction,
): Promise<readonly Fault[]> {
  const faults = await Promise.all(
    transaction.changes.flatMap((_, index) => placed(transaction, index)).map((one) => faultOf(expressions, one)),
  );
  return faults.filter((one) => one !== undefined);
}

function placed({ changes }: Transaction, index: number): readonly Placed[] {
  const gate = decodeGate(changes[index]?.gate, 'AfterChange');
  return (['ready', 'failed'] as const).flatMap((name) => {
    const check = gate?.[name];
    const path = `spec.changes[${index}].gate.${name}.expression`;
    return check?.kind === 'expression' ? [{ index, path, text: check.expression }] : [];
  });
}

async function faultOf(expressions: Expressions | undefined, { index, path, text }: Placed): Promise<Fault | undefined> {
  if (expressions === undefined) return fault('Invalid', `${path}: this engine evaluates no expressions`, index);
  const why = await expressions.compile(text);
  if (why === undefined) return undefined;
  return fault('Invalid', `${path}: ${foreign(why, longestWhy)}; write an expression in CEL over the variable object`, index);
}
