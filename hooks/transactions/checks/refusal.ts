// How a refusal that concerns one change is described.

import type { Answer, Warnings } from '../../objects/cluster.ts';
import type { Failure } from '../../objects/failure.ts';
import type { JsonObject } from '../../objects/json.ts';
import { describe, isSecret, type Reference } from '../../objects/reference.ts';
import { cut } from '../../objects/words.ts';
import { isSealed } from '../model/entry.ts';
import { reasonOfFailure } from '../model/reason.ts';
import { isFromSecret } from '../model/source.ts';
import { annotations, type Transaction } from '../model/transaction.ts';
import { describeConflicts, describeFailure } from './failures.ts';
import { type Fault, fault } from './fault.ts';

interface Subject {
  readonly index: number;
  readonly target: Reference;
  readonly prior?: JsonObject | undefined;
  readonly expected?: JsonObject | undefined;
}

/** The failure in words; without values of the target if messages must not show them. */
export function describeRefusal(failure: Failure, subject: Subject, transaction: Transaction): string {
  const { index, prior, expected } = subject;
  const change = transaction.changes[index];
  // Keys of the live object, and of what comes from a Secret or belongs to one, may be values. The author wrote only the content.
  const isKeyless = isFromSecret(change) || isSecret(subject.target);
  const known = [...(isKeyless ? [] : [change?.content]), ...fieldsOfKind(subject.target)];
  const isHidden = hidesWords(subject, transaction);
  // The name is the author's own: a webhook can only say that it is missing, not show another.
  if (isHidden && failure.code === 404 && failure.subject !== undefined && failure.subject === subject.target.namespace)
    return `${failure.reason} (namespace ${subject.target.namespace} does not exist)`;
  return failure.conflicts === undefined
    ? describeFailure(failure, isHidden, known)
    : describeConflicts(failure.conflicts, isHidden, { known, states: [prior, expected] });
}

/** For objects of the cluster, the author of the Transaction may have the words shown, but never for content from a Secret. */
function hidesWords(subject: Subject, transaction: Transaction): boolean {
  const { index, target } = subject;
  const mayShow = target.namespace === undefined && !isSecret(target) && !isFromSecret(transaction.changes[index]);
  return isSealed(subject, transaction) && !(mayShow && transaction.annotations[annotations.showRefusals] === 'true');
}

/** The warnings about a write. They quote values, as refusals do: of a change whose words are hidden, only their number is shown. */
export function shownWarnings(
  { warnings }: Extract<Answer, { kind: 'ok' }>,
  subject: Subject,
  transaction: Transaction,
): { readonly warnings?: Warnings } {
  if (warnings === undefined) return {};
  return { warnings: hidesWords(subject, transaction) ? { count: warnings.count } : warnings };
}

/** The failure of a write that is tried again, with what the API server says of it: it names the webhook that it cannot call. */
export function withWords<Tried extends Failure>(failure: Tried, subject: Subject, transaction: Transaction): Tried {
  const { code, message } = failure;
  const said = hidesWords(subject, transaction) ? webhookIn(failure) : cut(message, longestWords);
  return code < 500 || said === undefined ? failure : { ...failure, said };
}

// The API server puts the name of the webhook first, in quotes; a name has no other characters. What follows may quote an answer.
function webhookIn({ origin, message }: Failure): string | undefined {
  const [, name] = origin === 'call' ? (/^[a-zA-Z :]{1,60}webhook "([a-z0-9.-]{1,253})": /.exec(message) ?? []) : [];
  return name === undefined ? undefined : `webhook ${name} cannot be called`;
}

const longestWords = 600;

/** The failure of a write of an object of the engine, with what the API server says of it: no target is in its words. */
export function withOwnWords<Tried extends Failure>(failure: Tried): Tried {
  return failure.code < 500 ? failure : { ...failure, said: cut(failure.message, longestWords) };
}

// Names that Kubernetes defines are no values: the keys are those that the types of Secrets require.
// Source: k8s.io/api core/v1/types.go, Secret.
const secretFields: JsonObject = {
  metadata: { name: '', labels: {}, annotations: {}, finalizers: [], ownerReferences: [] },
  type: '',
  immutable: true,
  stringData: {},
  data: {
    ...{ 'tls.crt': '', 'tls.key': '', '.dockerconfigjson': '', '.dockercfg': '' },
    ...{ username: '', password: '', 'ssh-privatekey': '' },
  },
};

function fieldsOfKind(target: Reference): readonly JsonObject[] {
  return isSecret(target) ? [secretFields] : [];
}

/** The fault for a change that the API server refuses before the first write; `what` names the refused request. */
export function refusalFault(failure: Failure, subject: Subject, what: string, transaction: Transaction): Fault {
  const { index, target } = subject;
  const detail = describeRefusal(failure, subject, transaction);
  return fault(reasonOfFailure(failure), `spec.changes[${index}]: ${describe(target)} ${what}: ${detail}`, index);
}
