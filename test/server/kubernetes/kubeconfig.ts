// Kubeconfigs made from that of the suite, for tests that reach this API server another way or as another user.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import type { Teardown } from '../../support/client.ts';
import { kubeconfigOfSuite } from './real.ts';

/** A directory that is gone with the test. */
export function freeDirectory(t: Teardown): string {
  const directory = mkdtempSync(join(tmpdir(), 'janus-server-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  return directory;
}

interface Kubeconfig {
  readonly clusters: readonly { readonly cluster: Record<string, unknown> }[];
  readonly users: readonly { readonly user: Record<string, unknown> }[];
}

/** The suite's kubeconfig with some entries of its cluster and user replaced; undefined removes one. */
export function kubeconfigWith(
  t: Teardown,
  clusterParts: Record<string, unknown>,
  userParts: Record<string, unknown> = {},
): string {
  const config = parse(readFileSync(kubeconfigOfSuite(), 'utf8')) as Kubeconfig;
  for (const { cluster: entry } of config.clusters) Object.assign(entry, clusterParts);
  for (const { user } of config.users) Object.assign(user, userParts);
  const path = join(freeDirectory(t), 'kubeconfig');
  writeFileSync(path, stringify(JSON.parse(JSON.stringify(config))), { mode: 0o600 });
  return path;
}

/** The token of the suite; undefined when it uses a certificate. */
export function tokenOfSuite(): string | undefined {
  const config = parse(readFileSync(kubeconfigOfSuite(), 'utf8')) as Kubeconfig;
  const token = config.users[0]?.user.token;
  return typeof token === 'string' ? token : undefined;
}

/** The certificate authority of the suite's API server, in PEM. */
export function authorityOfSuite(): string {
  const config = parse(readFileSync(kubeconfigOfSuite(), 'utf8')) as Kubeconfig;
  const { 'certificate-authority-data': data, 'certificate-authority': path } = config.clusters[0]?.cluster ?? {};
  return typeof data === 'string' ? Buffer.from(data, 'base64').toString() : readFileSync(String(path), 'utf8');
}
