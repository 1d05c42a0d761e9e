// An admission webhook that holds writes of one stage's Transactions until the test releases them: a write that is sent, has no
// answer yet, and lands later. Or it denies them with the test's message. Dry runs pass.
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type JsonObject, parseJson, textAt } from '../../hooks/objects/json.ts';
import { makeCertificate } from './certificate.ts';
import { must, type Teardown, waitFor } from './client.ts';
import { account, type Stage } from './stage.ts';

export interface HeldWrite {
  /** Resolves once the write is held. */
  readonly arrived: Promise<void>;
  /** Resolves once the API server has given up on it. */
  readonly abandoned: Promise<void>;
  release(): void;
}

export interface SlowAdmission {
  /** Holds the next write to the ConfigMap of that name. */
  hold(name: string): HeldWrite;
  /** Denies every write to the ConfigMap of that name with this Status; without one, allows them again. */
  deny(name: string, status?: JsonObject): void;
}

const path = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';

export async function startSlowAdmission(stage: Stage, t: Teardown): Promise<SlowAdmission> {
  const held = new Map<string, (answer: ServerResponse, allow: () => void) => void>();
  const denied = new Map<string, JsonObject>();
  const { certificate, key } = makeCertificate();
  const server = createServer({ cert: certificate, key }, async (request, answer) => {
    const review = parseJson(Buffer.concat(await request.toArray()).toString()) as JsonObject;
    const name = textAt(review, 'request', 'name') ?? '';
    const uid = textAt(review, 'request', 'uid') ?? '';
    const allow = (): void => void answer.end(JSON.stringify(reviewOf(uid, denied.get(name))));
    const hold = held.get(name);
    held.delete(name);
    if (hold === undefined) allow();
    else hold(answer, allow);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  await configure(stage, { url, caBundle: Buffer.from(certificate).toString('base64') }, t);
  const admission: SlowAdmission = {
    hold: (name) => holding((take) => held.set(name, take)),
    deny: (name, status) => void (status === undefined ? denied.delete(name) : denied.set(name, status)),
  };
  await waitUntilAsked(stage, admission);
  return admission;
}

function reviewOf(uid: string, status: JsonObject | undefined): JsonObject {
  const response = status === undefined ? { uid, allowed: true } : { uid, allowed: false, status };
  return { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response };
}

function holding(wait: (take: (answer: ServerResponse, allow: () => void) => void) => void): HeldWrite {
  const arrived = Promise.withResolvers<void>();
  const abandoned = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  wait((answer, allow) => {
    answer.on('close', () => abandoned.resolve());
    arrived.resolve();
    void released.promise.then(allow);
  });
  return { arrived: arrived.promise, abandoned: abandoned.promise, release: released.resolve };
}

async function configure({ client, namespace }: Stage, clientConfig: JsonObject, t: Teardown): Promise<void> {
  const name = `slow-${namespace}`;
  t.teardown(() => client.delete(`${path}/${name}`));
  const user = `system:serviceaccount:${namespace}:${account}`;
  const expression = `request.userInfo.username == '${user}' && !request.dryRun`;
  const rule = { apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE', 'UPDATE', 'DELETE'] };
  const webhook = {
    name: 'slow.test.janus.io',
    clientConfig,
    rules: [rule],
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
    matchConditions: [{ name: 'of-the-transactions', expression }],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    timeoutSeconds: 30,
  };
  must(await client.create(path, { metadata: { name }, webhooks: [webhook] }));
}

/** The API server uses a webhook only some time after it is configured. */
async function waitUntilAsked({ client, namespace, path }: Stage, admission: SlowAdmission): Promise<void> {
  const held = admission.hold('probe');
  held.release();
  let asked = false;
  void held.arrived.then(() => {
    asked = true;
  });
  const probe = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'probe' } };
  await waitFor(async () => {
    await client.asServiceAccount(namespace, account).create(path('configmaps'), probe);
    await client.delete(path('configmaps/probe'));
    return asked;
  }, 'the API server to ask the webhook');
}
