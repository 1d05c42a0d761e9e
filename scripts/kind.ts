// `npm run kind`: a cluster in Docker with Metacontroller, the engine in an image built from this folder, and the example,
// committed. `npm run kind -- down` removes it. It prints a kubeconfig for kubectl at the end, and does not touch your own.
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type Command, kindProgram, missingTools, run } from './kind/tools.ts';

const cluster = 'janus';
const image = 'janus-on-metacontroller:0.1.0';
const directory = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'janus');
const kubeconfig = join(directory, 'kind.kubeconfig');
const root = join(import.meta.dirname, '..');

const actions: ReadonlyMap<string, () => void> = new Map([
  ['up', up],
  ['down', down],
]);

const args = process.argv.slice(2);
process.exitCode = main(args);

function main([action = 'up', ...more]: readonly string[]): number {
  const act = more.length === 0 ? actions.get(action) : undefined;
  if (act === undefined) return fail([`expected nothing or down, found ${args.join(' ')}`], 2);
  const missing = missingTools();
  return missing.length > 0 ? fail(missing, 1) : attempt(act);
}

function attempt(act: () => void): number {
  try {
    act();
    return 0;
  } catch (error) {
    const removal = act === up ? ['`npm run kind -- down` removes what there is so far.'] : [];
    return fail([error instanceof Error ? error.message : String(error), ...removal], 1);
  }
}

function fail(messages: readonly string[], code: number): number {
  process.stderr.write(`npm run kind:\n${messages.map((message) => `- ${message}\n`).join('')}`);
  return code;
}

function kind(...given: readonly string[]): void {
  run({ program: kindProgram(), args: given });
}

function kubectl(given: readonly string[], more: Partial<Command> = {}): void {
  run({ program: ['kubectl'], args: given, environment: { KUBECONFIG: kubeconfig }, ...more });
}

function down(): void {
  kind('delete', 'cluster', '--name', cluster, '--kubeconfig', kubeconfig);
}

function up(): void {
  mkdirSync(directory, { recursive: true });
  run({ program: ['docker'], args: ['build', '--tag', image, root] });
  kind('create', 'cluster', '--name', cluster, '--kubeconfig', kubeconfig, '--wait', '3m');
  kind('load', 'docker-image', image, '--name', cluster);
  install();
  example();
  process.stdout.write(`\nTo use it with kubectl:\n\n  export KUBECONFIG=${kubeconfig}\n\nnpm run kind -- down removes it.\n`);
}

function install(): void {
  // Metacontroller's own manifests come over the network. CompositeControllers can be created only once their kind is served.
  kubectl([
    'apply',
    '-f',
    'https://raw.githubusercontent.com/metacontroller/metacontroller/v4.17.2/manifests/production/metacontroller-crds-v1.yaml',
  ]);
  kubectl(['wait', '--for=condition=Established', '--timeout=1m', 'crd/compositecontrollers.metacontroller.k8s.io']);
  kubectl(['apply', '-f', join(root, 'manifests/namespace.yaml')]);
  kubectl(['apply', '-f', '-'], { input: JSON.stringify(token()) });
  kubectl(['apply', '-k', join(root, 'examples/kind')]);
  kubectl(['-n', 'metacontroller', 'rollout', 'status', 'statefulset/metacontroller', '--timeout=5m']);
  kubectl(['-n', 'janus-system', 'rollout', 'status', 'deployment/janus', '--timeout=5m']);
}

function token() {
  const stringData = { current: randomBytes(32).toString('hex') };
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'janus-hook-token', namespace: 'janus-system' }, stringData };
}

function example(): void {
  kubectl(['apply', '-f', join(root, 'manifests/examples/shop.yaml')]);
  kubectl(['apply', '-f', join(root, 'manifests/examples/deploy-v2.yaml')]);
  kubectl(['-n', 'shop', 'wait', '--for=condition=Finished', '--timeout=3m', 'tx/deploy-v2']);
  kubectl(['-n', 'shop', 'get', 'tx', '-o', 'wide']);
  kubectl(['-n', 'shop', 'wait', '--for=condition=Succeeded', '--timeout=1s', 'tx/deploy-v2']);
  // This cluster has nodes, so the gates of this example wait for a Job and for Pods. Its images come over the network.
  kubectl(['apply', '-f', join(root, 'manifests/examples/release-7.yaml')]);
  kubectl(['-n', 'shop', 'wait', '--for=condition=Finished', '--timeout=12m', 'tx/release-7']);
  kubectl(['-n', 'shop', 'get', 'tx', '-o', 'wide']);
  kubectl(['-n', 'shop', 'wait', '--for=condition=Succeeded', '--timeout=1s', 'tx/release-7']);
}
