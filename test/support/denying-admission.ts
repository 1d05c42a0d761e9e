// An admission webhook that denies writes of one stage's Transactions, with an answer that the test chooses.
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { at, type JsonObject, objectAt, parseJson, textAt } from '../../hooks/objects/json.ts';
import { makeCertificate } from './certificate.ts';
import { type Answer, type Client, must, type Teardown, waitFor } from './client.ts';
import { account, type Stage } from './stage.ts';

/** A request to the webhook. */
interface Review {
  /** The plural. */
  readonly resource: string;
  readonly name: string;
  readonly operation: string;
  readonly dryRun: boolean;
  /** The field manager of the request. */
  readonly manager: string;
  /** The object as it would be stored; empty for a deletion. */
  readonly object: JsonObject;
}

type Verdict = JsonObject | undefined | Promise<JsonObject | undefined>;

export interface DenyingAdmission {
  /** Sets the verdict for later requests: the `status` of the answer for a denied one, undefined for an allowed one. */
  decide(verdict: (review: Review) => Verdict): void;
}

const path = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';

export async function startDenyingAdmission(stage: Stage, t: Teardown): Promise<DenyingAdmission> {
  const { client, namespace } = stage;
  const user = `system:serviceaccount:${namespace}:${account}`;
  const rule = { apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps', 'secrets'] };
  const selector = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } } };
  const probe = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'probe' } };
  const who = client.asServiceAccount(namespace, account);
  return startAdmission(
    {
      client,
      name: `denying-${namespace}`,
      user,
      rule,
      selector,
      probe: () => who.create(stage.path('configmaps'), probe, { dryRun: 'All' }),
    },
    t,
  );
}

interface AdmissionOptions {
  readonly client: Client;
  readonly name: string;
  /** Only requests of this user are asked about. */
  readonly user: string;
  readonly rule: JsonObject;
  readonly selector?: JsonObject;
  /** Asks the API server to create an object named `probe`, as that user, by a dry run. */
  readonly probe: () => Promise<Answer>;
}

export async function startAdmission(options: AdmissionOptions, t: Teardown): Promise<DenyingAdmission> {
  let verdict: (review: Review) => Verdict = () => undefined;
  const { certificate, key } = makeCertificate();
  const server = createServer({ cert: certificate, key }, async (request, answer) => {
    const review = parseJson(Buffer.concat(await request.toArray()).toString()) as JsonObject;
    answer.end(JSON.stringify(answered(textAt(review, 'request', 'uid') ?? '', await verdict(reviewOf(review)))));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  await configure(options, { url, caBundle: Buffer.from(certificate).toString('base64') }, t);
  const admission: DenyingAdmission = {
    decide(next) {
      verdict = next;
    },
  };
  await waitUntilAsked(options, admission);
  return admission;
}

function reviewOf(review: JsonObject): Review {
  const text = (...keys: readonly string[]): string => textAt(review, 'request', ...keys) ?? '';
  return {
    resource: text('resource', 'resource'),
    name: text('name') || text('object', 'metadata', 'name'),
    operation: text('operation'),
    dryRun: at(review, 'request', 'dryRun') === true,
    manager: text('options', 'fieldManager'),
    object: objectAt(review, 'request', 'object'),
  };
}

function answered(uid: string, status: JsonObject | undefined): JsonObject {
  const response = status === undefined ? { uid, allowed: true } : { uid, allowed: false, status };
  return { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response };
}

async function configure({ client, name, user, rule, selector = {} }: AdmissionOptions, clientConfig: JsonObject, t: Teardown) {
  t.teardown(() => client.delete(`${path}/${name}`));
  const webhook = {
    name: 'denying.test.janus.io',
    clientConfig,
    rules: [{ ...rule, operations: ['CREATE', 'UPDATE', 'DELETE'] }],
    ...selector,
    matchConditions: [{ name: 'of-the-transactions', expression: `request.userInfo.username == '${user}'` }],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  };
  must(await client.create(path, { metadata: { name }, webhooks: [webhook] }));
}

/** The API server uses a webhook only some time after it is configured. */
async function waitUntilAsked({ probe }: AdmissionOptions, admission: DenyingAdmission): Promise<void> {
  admission.decide(({ name }) => (name.startsWith('probe') ? { code: 403, message: 'asked' } : undefined));
  await waitFor(async () => (await probe()).text.includes('asked'), 'the API server to ask the webhook');
  admission.decide(() => undefined);
}
