// An admission webhook that denies writes of one stage's Transactions, with an answer that the test chooses.
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { at, type JsonObject, parseJson, textAt } from '../../hooks/model/json.ts';
import { makeCertificate } from './certificate.ts';
import { must, type Teardown, waitFor } from './client.ts';
import { account, type Stage } from './stage.ts';

/** A request to the webhook. */
interface Review {
  readonly name: string;
  readonly operation: string;
  readonly dryRun: boolean;
  /** The field manager of the request. */
  readonly manager: string;
}

export interface DenyingAdmission {
  /** Sets the verdict for later requests: the `status` of the answer for a denied one, undefined for an allowed one. */
  decide(verdict: (review: Review) => JsonObject | undefined): void;
}

const path = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';

export async function startDenyingAdmission(stage: Stage, t: Teardown): Promise<DenyingAdmission> {
  let verdict: (review: Review) => JsonObject | undefined = () => undefined;
  const { certificate, key } = makeCertificate();
  const server = createServer({ cert: certificate, key }, async (request, answer) => {
    const review = parseJson(Buffer.concat(await request.toArray()).toString()) as JsonObject;
    answer.end(JSON.stringify(answered(textAt(review, 'request', 'uid') ?? '', verdict(reviewOf(review)))));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  await configure(stage, { url, caBundle: Buffer.from(certificate).toString('base64') }, t);
  const admission: DenyingAdmission = {
    decide(next) {
      verdict = next;
    },
  };
  await waitUntilAsked(stage, admission);
  return admission;
}

function reviewOf(review: JsonObject): Review {
  const text = (...keys: readonly string[]): string => textAt(review, 'request', ...keys) ?? '';
  return {
    name: text('name') || text('object', 'metadata', 'name'),
    operation: text('operation'),
    dryRun: at(review, 'request', 'dryRun') === true,
    manager: text('options', 'fieldManager'),
  };
}

function answered(uid: string, status: JsonObject | undefined): JsonObject {
  const response = status === undefined ? { uid, allowed: true } : { uid, allowed: false, status };
  return { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response };
}

async function configure({ client, namespace }: Stage, clientConfig: JsonObject, t: Teardown): Promise<void> {
  const name = `denying-${namespace}`;
  t.teardown(() => client.delete(`${path}/${name}`));
  const expression = `request.userInfo.username == 'system:serviceaccount:${namespace}:${account}'`;
  const rule = {
    apiGroups: [''],
    apiVersions: ['v1'],
    resources: ['configmaps', 'secrets'],
    operations: ['CREATE', 'UPDATE', 'DELETE'],
  };
  const webhook = {
    name: 'denying.test.janus.io',
    clientConfig,
    rules: [rule],
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
    matchConditions: [{ name: 'of-the-transactions', expression }],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  };
  must(await client.create(path, { metadata: { name }, webhooks: [webhook] }));
}

/** The API server uses a webhook only some time after it is configured. */
async function waitUntilAsked({ client, namespace, path }: Stage, admission: DenyingAdmission): Promise<void> {
  admission.decide(({ name }) => (name === 'probe' ? { code: 403, message: 'asked' } : undefined));
  const probe = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'probe' } };
  await waitFor(async () => {
    const answer = await client.asServiceAccount(namespace, account).create(path('configmaps'), probe, { dryRun: 'All' });
    return answer.text.includes('asked');
  }, 'the API server to ask the webhook');
  admission.decide(() => undefined);
}
