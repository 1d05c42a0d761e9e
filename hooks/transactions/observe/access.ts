// Reviews the permissions of the ServiceAccount.

import type { AccessAnswer, AccessQuestion, Reader } from '../../objects/cluster.ts';
import type { Failure } from '../../objects/failure.ts';
import { byName, type Need } from '../checks/permissions.ts';
import type { Transaction } from '../model/transaction.ts';
import { serviceAccountOf } from '../writes/resources.ts';

interface AccessContext {
  readonly reader: Reader;
  readonly transaction: Transaction;
}

type Access =
  | { readonly kind: 'reviewed'; readonly gaps: readonly AccessQuestion[] }
  | { readonly kind: 'trouble'; readonly failure: Failure };

/** Which of these permissions the ServiceAccount lacks. */
export async function reviewAccess(context: AccessContext, needs: readonly Need[]): Promise<Access> {
  const general = await ask(
    context,
    needs.map(({ question }) => question),
  );
  if (general.kind === 'trouble') return general;
  const denied = needs.filter(({ question }) => general.gaps.includes(question));
  const named = denied.flatMap(({ question, by }) =>
    by.length === 0 ? [question] : by.map(({ target }) => byName(question, target.name) ?? question),
  );
  return named.length === 0 ? general : ask(context, [...new Set(named)]);
}

async function ask({ reader, transaction }: AccessContext, questions: readonly AccessQuestion[]): Promise<Access> {
  const user = serviceAccountOf(transaction);
  const answers = await Promise.all(questions.map((question) => reader.allowed(question, user)));
  const failed = answers.find((answer) => answer.kind === 'failed');
  if (failed !== undefined) return { kind: 'trouble', failure: failed.failure };
  return { kind: 'reviewed', gaps: questions.filter((_, index) => !isAllowed(answers[index])) };
}

function isAllowed(answer: AccessAnswer | undefined): boolean {
  return answer?.kind === 'ok' && answer.allowed;
}
