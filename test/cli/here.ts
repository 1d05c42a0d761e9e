// A command line in the process of the test, for tests without a control plane.
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { Test } from 'tap';
import { runProgram } from '../../cli/command/program.ts';
import type { Io } from '../../cli/io.ts';
import { makeCertificate } from '../support/certificate.ts';

/** A command line in this process. The API server of its kubeconfig does not answer, unless `server` names one. */
export async function typed(
  t: Test,
  words: readonly string[],
  { server = 'https://127.0.0.1:1', env = {}, interrupted }: Typing = {},
) {
  const config = {
    clusters: [{ name: 'c', cluster: { server, 'insecure-skip-tls-verify': true } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    ...{ users: [{ name: 'u', user: { token: 'a' } }], 'current-context': 'c' },
  };
  const folder = t.testdir({
    config: JSON.stringify(config),
    'tx.json': JSON.stringify(deletion),
    'cm.json': JSON.stringify(one),
    'provider.json': JSON.stringify(provider),
  });
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const io = {
    ...{ stdin: new PassThrough(), stdout, stderr, folder, program: 'janus' },
    env: { KUBECONFIG: join(folder, 'config'), ...env },
    interrupted: interrupted ?? new AbortController().signal,
  } as unknown as Io;
  const code = await runProgram(words, io);
  return { code, out: String(stdout.read() ?? ''), err: String(stderr.read() ?? '') };
}

interface Typing {
  readonly server?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly interrupted?: AbortSignal;
}

export const one = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' } };
const provider = {
  ...{ apiVersion: 'pkg.crossplane.io/v1', kind: 'Provider', metadata: { name: 'one' } },
  spec: { package: 'registry.example.org/acme/one:v1.0.0' },
};
export const deletion = {
  ...{ apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction', metadata: { name: 'deletion' } },
  spec: { serviceAccountName: 'deployer', changes: [{ type: 'Delete', target: { ...one, metadata: undefined, name: 'one' } }] },
};

/** Of the servers below. */
export const own = makeCertificate();

/** What listens there, by TLS, takes every request and answers none; `note` gets each path. Returns its address. */
export function startSilence(t: Test, note: (url: string) => void = () => undefined): Promise<string> {
  return startServer(t, ({ url = '' }) => note(url));
}

/** An API server that answers as the test wants. Returns its address. */
export async function startServer(t: Test, answer: RequestListener): Promise<string> {
  const server = createServer({ cert: own.certificate, key: own.key }, answer);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
