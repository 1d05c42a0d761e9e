import { states } from '../../hooks/transactions/inspect.ts';
import type { ChangeStates } from '../../hooks/transactions/inspection.ts';
import { expand } from '../cluster/inspecting.ts';
import { getTransaction } from '../cluster/transactions.ts';
import type { Call } from '../command/command.ts';
import { sayAll } from '../io.ts';
import { statesLines } from '../show/states.ts';
import { outputStyle } from './given.ts';

const codes = { asLeft: 0, differs: 1, unknown: 3 } as const;

export async function run(call: Call): Promise<number> {
  const { io, options, operands } = call;
  const session = await call.connect();
  const transaction = await getTransaction(session, { namespace: session.namespace, name: operands[0] ?? '' });
  const found = await states({ reader: session.cluster, expand }, transaction);
  sayAll(io, statesLines(found, outputStyle(io, options)));
  return codeOf(found);
}

function codeOf(found: readonly ChangeStates[]): number {
  if (found.some(({ isAsLeft }) => isAsLeft === false)) return codes.differs;
  return found.every(({ isAsLeft }) => isAsLeft === true) ? codes.asLeft : codes.unknown;
}
