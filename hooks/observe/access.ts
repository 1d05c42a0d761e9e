// Reviews the permissions of the ServiceAccount.
import { byName, type Need } from '../checks/permissions.ts';
import type { AccessQuestion, Reader } from '../cluster.ts';
import type { Failure } from '../model/failure.ts';
import type { Transaction } from '../model/transaction.ts';
import { serviceAccountOf } from '../writes/resources.ts';
import type { Presence } from './observation.ts';
import type { Sightings } from './sightings.ts';

interface AccessContext {
  readonly reader: Reader;
  readonly sightings: Sightings;
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

// An allowed permission counts for a moment: Transactions that begin at the same time mostly need the same ones.
async function ask(context: AccessContext, questions: readonly AccessQuestion[]): Promise<Access> {
  const answers = await Promise.all(questions.map((question) => lookForRight(context, question)));
  const trouble = answers.find((answer) => answer.kind === 'trouble');
  if (trouble?.kind === 'trouble') return { kind: 'trouble', failure: trouble.failure };
  return { kind: 'reviewed', gaps: questions.filter((_, index) => answers[index]?.kind !== 'present') };
}

function lookForRight({ reader, sightings, transaction }: AccessContext, question: AccessQuestion): Promise<Presence> {
  const { namespace, serviceAccountName } = transaction;
  return sightings.look(`right ${namespace}/${serviceAccountName} ${JSON.stringify(question)}`, async () => {
    const answer = await reader.allowed(question, serviceAccountOf(transaction));
    if (answer.kind === 'failed') return { kind: 'trouble', failure: answer.failure };
    return answer.allowed ? { kind: 'present', object: {} } : { kind: 'absent' };
  });
}
