// The result of a write of a Transaction: the object, or a Problem that names remaining objects and the next step.
import type { Failed } from '../../hooks/objects/cluster.ts';
import { type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { mayQuoteSecrets } from '../../hooks/transactions/inspect.ts';
import type { Session } from '../cluster/session.ts';
import { problemOf } from '../cluster/transactions.ts';
import type { createTransaction } from '../cluster/writes.ts';
import { Problem } from '../problem.ts';

/** Another client, perhaps another apply, has created a Transaction of that name since the command looked for it. */
export class MadeMeanwhile extends Problem {}

/** `real`: the write is not a dry run; the Secret was created before. */
export function mustBeWritten(
  answer: Awaited<ReturnType<typeof createTransaction>>,
  session: Session,
  transaction: JsonObject,
  real?: { readonly secret: string | undefined },
): JsonObject {
  if (answer.kind === 'ok') return answer.body;
  const attempt = { verb: 'create', namespace: textAt(transaction, 'metadata', 'namespace') };
  const isNamed = textAt(transaction, 'metadata', 'name') !== undefined;
  const isQuoted = mayQuoteSecrets(transaction);
  const { message } = problemOf(isQuoted ? withoutMessage(answer) : answer, session, attempt);
  if (answer.failure.kind === 'exists') throw new MadeMeanwhile(message);
  const hint = isQuoted ? ' The answer may quote a Secret, and is not shown: janus plan names the fields.' : '';
  throw new Problem(`${message}${hint}${real === undefined ? '' : afterwards(answer, real.secret, isNamed)}`);
}

export function withoutMessage(answer: Failed): Failed {
  return { ...answer, failure: { ...answer.failure, message: '' } };
}

function afterwards({ failure }: Failed, secret: string | undefined, isNamed: boolean): string {
  if (failure.kind !== 'transient' || failure.definitive) return leftOf(secret);
  return isNamed
    ? ' Whether it was created is not known: repeat the command, which then follows it, or run janus list.'
    : ` Whether it was created is not known: run janus list before you repeat the command, which would create another one.${leftOf(secret)}`;
}

export function leftOf(secret: string | undefined): string {
  return secret === undefined ? '' : ` Secret ${secret} with its contents is left: delete it if no Transaction names it.`;
}
