// Failed requests as one sentence: what failed, where, and what the user does next. Only the kind, the reason and the code of a
// failure select the sentence. The message of the server follows it.
import type { Failure } from '../../hooks/objects/failure.ts';
import { foreign } from '../../hooks/objects/words.ts';

interface Attempted {
  readonly verb: string;
  /** The name in RBAC: `transactions.tx.janus.io`. */
  readonly resource: string;
  readonly namespace?: string | undefined;
  readonly name?: string;
  readonly server: string;
}

const longest = 2_000;

export function sentenceOf(failure: Failure, attempted: Attempted): string {
  return withoutAnswer(failure, attempted.server) ?? refusalOf(failure, attempted);
}

/** Undefined if the server has answered, and has accepted the credentials. */
export function withoutAnswer({ reason, code }: Failure, server: string): string | undefined {
  if (reason === 'CredentialsUnavailable')
    return 'The credentials of this kubeconfig cannot be read: run its exec plugin, or check its files.';
  if (code === 0) return `${server} gives no answer (${reason}): check the cluster and the context.`;
  return code === 401 ? `${server} does not accept these credentials (Unauthorized): log in again.` : undefined;
}

function refusalOf(failure: Failure, { verb, resource, namespace, name }: Attempted): string {
  const place = namespace === undefined ? 'in any namespace' : `in namespace ${namespace}`;
  const message = foreign(failure.message, longest);
  const said = message === '' ? '.' : `: ${message}`;
  if (failure.reason === 'Forbidden') return `You may not ${verb} ${resource} ${place} (Forbidden)${said}`;
  if (failure.kind === 'absent' && failure.subject === undefined && resource.endsWith('.tx.janus.io'))
    return 'This cluster does not serve tx.janus.io: install the engine as README.md shows.';
  return `Cannot ${verb} ${resource}${name === undefined ? '' : ` ${name}`} ${place} (${failure.reason})${said}`;
}
