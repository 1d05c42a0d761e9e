// Starts a real control plane for tests and the demo: etcd, kube-apiserver and kube-controller-manager on loopback, in
// seconds once built. It ends with this process at the latest (see keeper.ts). Needs Go for the first build, nothing else.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type Client, connect } from '../support/client.ts';
import { buildBinaries } from './build.ts';
import { type Binaries, type Component, certificateDirectory, components, flagsOf, type Settings } from './components.ts';
import { type Tokens, writeCredentials, writeKubeconfigs } from './credentials.ts';
import { type Keeper, openKeeper } from './keeper.ts';

export type { Component } from './components.ts';

export interface ControlPlaneOptions {
  readonly apiServerFlags?: readonly string[];
  /** Refuses a Pod whose ServiceAccount is not there, as a cluster does; off by default. */
  readonly serviceAccountAdmission?: boolean;
  /** Runs those for nodes, volumes and autoscalers, too, which are off by default. */
  readonly allControllers?: boolean;
  /** Audits every request at this level, or by a policy file of one's own. */
  readonly audit?: 'Metadata' | 'Request' | 'RequestResponse' | { readonly policyFile: string };
  /** Where progress goes; by default to stderr. */
  readonly report?: (line: string) => void;
}

export interface ControlPlane {
  /** Path of an administrator's kubeconfig. */
  readonly kubeconfig: string;
  readonly url: string;
  /** Path of the audit log, one JSON event a line, if auditing was asked for. */
  readonly auditLog?: string;
  /** Ends all processes and removes all files. May be called twice. */
  stop(): Promise<void>;
  /** Ends one component and starts it again, with its data; resolves when it works again. */
  restart(component: Component, signal?: NodeJS.Signals): Promise<void>;
  /** Ends one component, by SIGKILL by default, until `restart`. */
  halt(component: Component, signal?: NodeJS.Signals): Promise<void>;
  /** Stops one component in the middle of whatever it does, or lets it go on. */
  freeze(component: Component, isFrozen: boolean): void;
}

export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const report = options.report ?? ((line: string) => process.stderr.write(`${line}\n`));
  const binaries = await buildBinaries(report);
  for (let attempt = 1; ; attempt += 1) {
    const started = await startOnce(binaries, options);
    if (started !== 'port taken') return started;
    if (attempt === 5)
      throw new Error(
        'kube-apiserver found its port taken 5 times in a row, each time another one; see what takes ports on 127.0.0.1',
      );
  }
}

async function startOnce(binaries: Binaries, options: ControlPlaneOptions): Promise<ControlPlane | 'port taken'> {
  const keeper = await openKeeper();
  try {
    const port = await freePort();
    const run = runOf(keeper, binaries, writeSettings(keeper.directory, port, options));
    const tokens = writeCredentials(keeper.directory);
    return await bringUp(run, `https://127.0.0.1:${port}`, tokens);
  } catch (error) {
    const portTaken = logOf(keeper, 'kube-apiserver').includes('address already in use');
    await keeper.end();
    if (portTaken) return 'port taken';
    throw error;
  }
}

interface Run {
  readonly keeper: Keeper;
  readonly settings: Settings;
  readonly start: (component: Component) => void;
}

function runOf(keeper: Keeper, binaries: Binaries, settings: Settings): Run {
  return {
    keeper,
    settings,
    start: (component) => keeper.start(component, binaries[component], flagsOf(component, settings)),
  };
}

function writeSettings(directory: string, port: number, options: ControlPlaneOptions): Settings {
  const { audit, apiServerFlags = [], serviceAccountAdmission = false, allControllers = false } = options;
  const settings = { directory, port, apiServerFlags, serviceAccountAdmission, allControllers };
  if (audit === undefined) return settings;
  const policy = typeof audit === 'string' ? auditPolicy(audit) : readFileSync(audit.policyFile, 'utf8');
  writeFileSync(join(directory, 'audit-policy'), policy, { mode: 0o600 });
  return { ...settings, auditPolicy: 'audit-policy', auditLog: join(directory, 'audit.log') };
}

function auditPolicy(level: string): string {
  return JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', omitStages: ['RequestReceived'], rules: [{ level }] });
}

async function bringUp(run: Run, url: string, tokens: Tokens): Promise<ControlPlane> {
  const { keeper, settings } = run;
  run.start('etcd');
  run.start('kube-apiserver');
  // The key is written after the certificate: a certificate that is there may be half a one.
  const key = join(keeper.directory, certificateDirectory, 'apiserver.key');
  await becomesTrue(keeper, 'kube-apiserver to sign its certificate', () => existsSync(key));
  const kubeconfig = writeKubeconfigs(keeper.directory, url, tokens);
  const client = connect(kubeconfig);
  await apiServerReady(keeper, client);
  run.start('kube-controller-manager');
  await controllersWork(keeper, client);
  return {
    kubeconfig,
    url,
    ...(settings.auditLog === undefined ? {} : { auditLog: settings.auditLog }),
    stop: async () => {
      await client.close();
      await keeper.end();
    },
    halt: (component, signal = 'SIGKILL') => keeper.halt(component, signal),
    freeze: (component, isFrozen) => keeper.signal(component, isFrozen ? 'SIGSTOP' : 'SIGCONT'),
    restart: async (component, signal = 'SIGKILL') => {
      await keeper.halt(component, signal);
      run.start(component);
      await (component === 'kube-controller-manager' ? controllersWork(keeper, client) : apiServerReady(keeper, client));
    },
  };
}

function apiServerReady(keeper: Keeper, client: Client): Promise<void> {
  return becomesTrue(keeper, 'kube-apiserver to answer /readyz', async () => (await client.get('/readyz')).code === 200);
}

/** Proven by work: a fresh namespace has got its default ServiceAccount. */
async function controllersWork(keeper: Keeper, client: Client): Promise<void> {
  const probe = '/api/v1/namespaces/default/serviceaccounts/default';
  await client.delete(probe);
  await becomesTrue(
    keeper,
    'kube-controller-manager to make a ServiceAccount',
    async () => (await client.get(probe)).code === 200,
  );
}

const guardMs = 120_000;

/** Polls a condition; an ended component or two minutes without success are an error that shows the component's log. */
async function becomesTrue(keeper: Keeper, what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + guardMs;
  while (
    !(await Promise.resolve()
      .then(condition)
      .catch(() => false))
  ) {
    const ended = components.find((name) => keeper.endOf(name) !== undefined);
    if (ended !== undefined)
      throw new Error(`waited for ${what}, but ${ended} ended (${keeper.endOf(ended)}):\n${lastLines(logOf(keeper, ended))}`);
    if (performance.now() > deadline)
      throw new Error(
        `waited ${guardMs / 1000} s for ${what}, in vain; its log ends:\n${lastLines(logOf(keeper, 'kube-apiserver'))}`,
      );
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function logOf(keeper: Keeper, component: Component): string {
  const path = join(keeper.directory, `${component}.log`);
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

function lastLines(text: string): string {
  return text.trimEnd().split('\n').slice(-12).join('\n');
}

/** Below the range that systems use for outgoing connections, so that a restart finds its port free as well. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
