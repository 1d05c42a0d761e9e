// Package transactions, as far as a plan needs them.
import type { Failed, Resource } from '../../hooks/objects/cluster.ts';
import type { JsonObject } from '../../hooks/objects/json.ts';
import { Problem } from '../problem.ts';
import { sentenceOf } from '../show/sentences.ts';
import { caller, type Session } from './session.ts';
import { transactions } from './transactions.ts';

export const packageTransactions: Resource = { ...transactions, group: 'pkg.crossplane.io', namespaced: false };

const resource = 'transactions.pkg.crossplane.io';

/** Throws a Problem. */
export async function getPackageTransaction(session: Session, name: string): Promise<JsonObject> {
  const answer = await session.cluster.get({ resource: packageTransactions, name }, caller);
  if (answer.kind === 'ok') return answer.object;
  if (answer.failure.kind === 'absent') throw new Problem(`Package transaction ${name} was deleted before its plan was made.`);
  throw packageProblem(answer, session, 'get');
}

/** The Problem for a failed request on package transactions. */
export function packageProblem({ failure }: Failed, { server }: Session, verb: string): Problem {
  if (failure.kind === 'absent')
    return new Problem(`This cluster does not serve ${resource}: enable package transactions as docs/packages.md shows.`);
  const sentence = sentenceOf(failure, { verb, resource, server });
  const rights = failure.reason === 'Forbidden' ? ` The plan of a package needs create, get and delete of ${resource}.` : '';
  return new Problem(`${sentence}${rights}`);
}
