// Failures of requests as one sentence: what, where, what next. Only the kind, the reason and the code of a failure decide; what
// others wrote is shown after them.
import type { Failure } from '../../hooks/objects/failure.ts';
import { foreign } from '../../hooks/objects/words.ts';

interface Attempted {
  readonly verb: string;
  /** As RBAC names it: `transactions.tx.janus.io`. */
  readonly resource: string;
  readonly namespace?: string | undefined;
  readonly name?: string;
  readonly server: string;
}

const longest = 2_000;

export function sentenceOf(failure: Failure, attempted: Attempted): string {
  return withoutAnswer(failure, attempted.server) ?? refusalOf(failure, attempted);
}

/** Undefined if the server has answered a user that it knows. */
export function withoutAnswer({ reason, code }: Failure, server: string): string | undefined {
  if (reason === 'CredentialsUnavailable')
    return 'The credentials of this kubeconfig cannot be read: run its exec plugin, or look at its files, by hand.';
  if (code === 0) return `${server} gives no answer (${reason}): check the cluster and the context.`;
  return code === 401 ? `${server} does not accept these credentials (Unauthorized): log in again.` : undefined;
}

function refusalOf(failure: Failure, { verb, resource, namespace, name }: Attempted): string {
  const place = namespace === undefined ? 'in any namespace' : `in namespace ${namespace}`;
  const message = foreign(failure.message, longest);
  const said = message === '' ? '.' : `: ${message}`;
  if (failure.reason === 'Forbidden') return `You may not ${verb} ${resource} ${place} (Forbidden)${said}`;
  if (failure.kind === 'absent' && failure.subject === undefined && resource.endsWith('.tx.janus.io'))
    return 'This cluster does not serve tx.janus.io: install the engine, see README.';
  return `Cannot ${verb} ${resource}${name === undefined ? '' : ` ${name}`} ${place} (${failure.reason})${said}`;
}
