// The engine's identity in tests: the ServiceAccount of manifests/rbac.yaml, with a token, with the shipped rights and no others.
// Scenarios act as an administrator through the test's own client.
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { textAt } from '../../hooks/objects/json.ts';
import { type Client, must, type Teardown } from './client.ts';
import { engineNamespace } from './install.ts';

/** Its name for the API server, as in audit logs. */
export const engineUser = `system:serviceaccount:${engineNamespace}:janus`;

const account = `/api/v1/namespaces/${engineNamespace}/serviceaccounts/janus`;

/**
 * Writes a kubeconfig for the engine, for the cluster of an administrator's kubeconfig, and returns its path; removed with the
 * test.
 */
export function engineKubeconfig(t: Teardown, client: Client, kubeconfig: string): Promise<string> {
  return accountKubeconfig(t, client, kubeconfig, account);
}

/** The same for any ServiceAccount, by its path. */
export async function accountKubeconfig(t: Teardown, client: Client, kubeconfig: string, of: string): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'janus-engine-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, 'kubeconfig');
  await writeAccountKubeconfig(client, kubeconfig, path, of);
  return path;
}

export function writeEngineKubeconfig(client: Client, kubeconfig: string, path: string): Promise<void> {
  return writeAccountKubeconfig(client, kubeconfig, path, account);
}

async function writeAccountKubeconfig(client: Client, kubeconfig: string, path: string, of: string): Promise<void> {
  const config = parse(readFileSync(kubeconfig, 'utf8')) as Kubeconfig;
  const token = await tokenOf(client, of);
  const users = config.users.map(({ name }) => ({ name, user: { token } }));
  writeFileSync(path, stringify({ ...config, users }), { mode: 0o600 });
}

/** As kubelet does: who reads it meanwhile finds the former content, or the new one. */
function replaceFile(path: string, content: string | Buffer): void {
  const beside = `${path}.${randomUUID()}`;
  writeFileSync(beside, content, { mode: 0o600 });
  renameSync(beside, path);
}

/** The environment of a hook in a Pod: the address, and the directory with token and CA, from such a kubeconfig. */
export function podOf(kubeconfig: string, directory: string): Readonly<Record<string, string>> {
  const { clusters, users } = parse(readFileSync(kubeconfig, 'utf8')) as Kubeconfig;
  const { server = '', 'certificate-authority-data': authority = '' } = clusters[0]?.cluster ?? {};
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  replaceFile(join(directory, 'token'), users[0]?.user.token ?? '');
  replaceFile(join(directory, 'ca.crt'), Buffer.from(authority, 'base64'));
  const { hostname, port } = new URL(server);
  return {
    KUBERNETES_SERVICE_HOST: hostname.replace(/^\[|\]$/g, ''),
    KUBERNETES_SERVICE_PORT: port || '443',
    JANUS_SERVICE_ACCOUNT_DIRECTORY: directory,
  };
}

interface Kubeconfig {
  readonly clusters: readonly {
    readonly cluster: { readonly server?: string; readonly 'certificate-authority-data'?: string };
  }[];
  readonly users: readonly { readonly name: string; readonly user: { readonly token?: string } }[];
}

async function tokenOf(client: Client, of: string): Promise<string> {
  const asked = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 86_400 } };
  return textAt(must(await client.create(`${of}/token`, asked)), 'status', 'token') ?? '';
}
