// Transactions to start from in the tests of the CRD, and what the API server says of them.
import { type JsonObject, textAt } from '../../hooks/objects/json.ts';
import type { Answer, Client } from '../support/client.ts';

export const transactionsIn = (namespace: string): string => `/apis/tx.janus.io/v1alpha1/namespaces/${namespace}/transactions`;

export const sampleTarget: JsonObject = { apiVersion: 'v1', kind: 'ConfigMap', name: 'app-config' };

export const sampleChange: JsonObject = { target: sampleTarget, type: 'Patch', content: { data: { version: '2.0' } } };

export const sampleSpec: JsonObject = { serviceAccountName: 'deploy-sa', changes: [sampleChange] };

export function transactionWith(spec: JsonObject, name = 'sample'): JsonObject {
  return { apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction', metadata: { name }, spec };
}

/** A Transaction of one change, parts of whose target, of which, and of the spec around which are replaced. */
export function sampleWith(parts: { target?: JsonObject; change?: JsonObject; spec?: JsonObject }): JsonObject {
  const change = { ...sampleChange, target: { ...sampleTarget, ...parts.target }, ...parts.change };
  return transactionWith({ ...sampleSpec, changes: [change], ...parts.spec });
}

/** A copy without these keys. */
export function without(object: JsonObject, ...keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)));
}

/** What the API server says to a create that has no effect; its refusal in words, or undefined. */
export async function refusalOfCreate(
  client: Client,
  transaction: JsonObject,
  namespace = 'default',
): Promise<string | undefined> {
  return refusalIn(await client.create(transactionsIn(namespace), transaction, { dryRun: 'All' }));
}

/** The message of a 422; undefined for success. Throws at any other answer. */
export function refusalIn(answer: Answer): string | undefined {
  if (answer.code >= 200 && answer.code < 300) return undefined;
  if (answer.code === 422) return textAt(answer.body, 'message') ?? '';
  throw new Error(`expected success or 422, the API server answered ${answer.code}: ${answer.text}`);
}

/** Whether the parts of `words` between `…` come in that order. Versions of Kubernetes word some refusals otherwise. */
export function holds(text: string, words: string): boolean {
  const [first = '', ...rest] = words.split('…');
  let at = text.indexOf(first);
  for (const part of rest) at = at < 0 ? at : text.indexOf(part, at + first.length);
  return at >= 0;
}
