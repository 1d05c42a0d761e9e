// A real Crossplane core as a process, beside the control plane of the tests. `JANUS_CROSSPLANE` names a checkout of its sources, with
// the program `crossplane` (test/README.md says how it is built). Its CRDs are in that checkout, too.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { type Client, must, type Teardown, waitFor } from './client.ts';
import { freeFolder } from './hook-process.ts';

const checkout = process.env.JANUS_CROSSPLANE;
/** A checkout of another release, to which that Crossplane is upgraded. */
const next = process.env.JANUS_CROSSPLANE_NEXT;

/** The options of a test that needs a Crossplane. */
export const withCrossplane: { readonly skip: false | string } = {
  skip: checkout === undefined ? 'JANUS_CROSSPLANE names no checkout of Crossplane with its program' : false,
};

/** The options of a test that upgrades it. */
export const withNextCrossplane: { readonly skip: false | string } = {
  skip: withCrossplane.skip || (next === undefined && 'JANUS_CROSSPLANE_NEXT names no checkout of another Crossplane'),
};

/** The folder with the CRDs of that Crossplane. */
export function crossplaneDefinitions(folder = programFolder()): string {
  return join(folder, 'cluster', 'crds');
}

/** The version of the sources, without `v`. */
export function crossplaneVersion(folder = programFolder()): string {
  const { stdout } = spawnSync('git', ['describe', '--tags', '--match', 'v*'], { cwd: folder, encoding: 'utf8' });
  const version = /^v(\d+\.\d+\.\d+\S*)$/.exec(stdout.trim())?.[1];
  if (version !== undefined) return version;
  throw new Error(`JANUS_CROSSPLANE: expected a checkout of a tag, such as v2.3.4, found ${JSON.stringify(stdout)}`);
}

function programFolder(): string {
  if (checkout === undefined || !existsSync(join(checkout, 'crossplane')))
    throw new Error('JANUS_CROSSPLANE: expected a checkout of Crossplane with its program `crossplane`, found none');
  return checkout;
}

const namespace = 'crossplane-system';

export interface Crossplane {
  /** Ends the process without notice. */
  kill(): Promise<void>;
  /** Starts it again. */
  start(): Promise<void>;
  /** Ends it without notice, and starts the next release of it, as the next release of its chart does. */
  upgrade(): Promise<void>;
  readonly log: () => string;
}

/** The Deployment that the chart of Crossplane makes, as far as the hook reads it. */
export async function createDeployment(client: Client, version: string, replicas = 1): Promise<void> {
  const labels = { 'app.kubernetes.io/component': 'cloud-infrastructure-controller', 'app.kubernetes.io/version': version };
  const pod = { containers: [{ name: 'crossplane', image: 'crossplane', args: ['core', 'start'] }] };
  const template = { metadata: { labels: { app: 'crossplane' } }, spec: pod };
  const spec = { replicas, selector: { matchLabels: { app: 'crossplane' } }, template };
  await createNamespace(client);
  must(
    await client.create(`/apis/apps/v1/namespaces/${namespace}/deployments`, { metadata: { name: 'crossplane', labels }, spec }),
  );
}

async function createNamespace(client: Client): Promise<void> {
  const answer = await client.create('/api/v1/namespaces', { metadata: { name: namespace } });
  if (answer.code !== 409) must(answer);
}

/** What its chart's Pods do: `core init` once, then `core start`. */
export async function startCrossplane(t: Teardown, client: Client, kubeconfig: string): Promise<Crossplane> {
  let folder = programFolder();
  await createNamespace(client);
  must(await client.create(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: 'crossplane' } }));
  const [cache, certificates] = [freeFolder(t), freeFolder(t)];
  const { PATH = '', HOME = '' } = process.env;
  const environmentOf = () => ({
    ...{ PATH, HOME, KUBECONFIG: kubeconfig, ENABLE_WEBHOOKS: 'false' },
    ...{ POD_NAMESPACE: namespace, POD_SERVICE_ACCOUNT: 'crossplane', CRDS_PATH: crossplaneDefinitions(folder) },
    ...{ TLS_CA_SECRET_NAME: 'crossplane-root-ca', TLS_CLIENT_SECRET_NAME: 'crossplane-tls-client' },
    ...{ XPKG_CACHE_DIR: cache, XFN_CACHE_DIR: cache, TLS_CLIENT_CERTS_DIR: certificates },
  });
  // It fails while the API server does not serve a kind yet whose CRD it has just made; a kubelet starts it again.
  const isInitialized = (): boolean => {
    const init = spawnSync(join(folder, 'crossplane'), ['core', 'init', '--activation', '*'], {
      env: environmentOf(),
      encoding: 'utf8',
    });
    if (init.status !== 0) throw new Error(`${init.stdout}${init.stderr}`);
    return true;
  };
  await waitFor(isInitialized, 'crossplane core init');
  const secret = must(await client.get(`/api/v1/namespaces/${namespace}/secrets/crossplane-tls-client`));
  for (const name of ['ca.crt', 'tls.crt', 'tls.key'])
    writeFileSync(join(certificates, name), Buffer.from(textAt(secret, 'data', name) ?? '', 'base64'));
  const ports = ['--metrics-port=0', '--health-probe-port=0'];
  let [child, log]: [ChildProcess | undefined, string] = [undefined, ''];
  const start = async (): Promise<void> => {
    child = spawn(join(folder, 'crossplane'), ['core', 'start', '--debug', ...ports], {
      env: environmentOf(),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const began = log.length;
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (bytes) => {
        log += String(bytes);
      });
    await waitFor(() => log.slice(began).includes('Starting workers'), 'Crossplane to start its workers', { timeoutMs: 120_000 });
  };
  const kill = async (): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  const upgrade = async (): Promise<void> => {
    await kill();
    folder = next ?? folder;
    const labels = { 'app.kubernetes.io/version': crossplaneVersion(folder) };
    must(await client.patch(`/apis/apps/v1/namespaces/${namespace}/deployments/crossplane`, { metadata: { labels } }));
    await waitFor(isInitialized, 'crossplane core init of the next release');
    await start();
  };
  t.teardown(kill);
  await start();
  return { kill, start, upgrade, log: () => log };
}

/** Deployments of packages, by name. */
export async function runtimes(client: Client): Promise<readonly JsonObject[]> {
  return (await client.list(`/apis/apps/v1/namespaces/${namespace}/deployments`)).items.filter(
    (one) => textAt(one, 'metadata', 'name') !== 'crossplane',
  );
}

export const crossplaneNamespace = namespace;
