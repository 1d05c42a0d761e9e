// `npm run packages -- resolve FILE`: resolves the whole tree of the package snapshot in FILE (YAML or JSON; `-`: standard input),
// as it would be installed. Reads registries and, with --kubeconfig, a cluster; writes nothing but its cache.
//
//   --lock FILE           a Lock with what is installed; without it, nothing is installed
//   --crds FOLDER         YAML files with the live objects
//   --kubeconfig FILE     a cluster with the live objects, and with the Lock unless --lock is given
//   --namespace NAME      the namespace with the Secrets of spec.packagePullSecrets, with --kubeconfig; crossplane-system
//   --pull-secret FILE    a .dockerconfigjson; may be repeated
//   --crossplane VERSION  the version of Crossplane; without it, no package's spec.crossplane.version is checked
//   --cache FOLDER        the folder that keeps content by digest
//   --json                output for programs
//
// Exit codes: 0 it can be installed; 1 it is refused; 2 a registry or the cluster does not answer; 64 the arguments are wrong.
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { compareWithLive, readTree, type Tree } from '../hooks/packages/observe/tree.ts';
import { createRegistryClient } from '../server/registry/client.ts';
import { type Inputs, openInputs, Unanswered } from './packages/inputs.ts';
import { type Outcome, writeJson, writeText } from './packages/outcome.ts';

const options = {
  lock: { type: 'string' },
  crds: { type: 'string' },
  kubeconfig: { type: 'string' },
  namespace: { type: 'string', default: 'crossplane-system' },
  crossplane: { type: 'string' },
  'pull-secret': { type: 'string', multiple: true },
  cache: { type: 'string' },
  json: { type: 'boolean', default: false },
} as const;

const exitCodes: Readonly<Record<Outcome['kind'], number>> = { resolved: 0, refused: 1, failed: 2 };
const wrongCall = 64;
const deadline = 600_000;

process.exitCode = await main();

async function main(): Promise<number> {
  try {
    return await run();
  } catch (error) {
    process.stderr.write(`packages: ${error instanceof Error ? error.message : String(error)}\n`);
    return error instanceof Unanswered ? exitCodes.failed : wrongCall;
  }
}

async function run(): Promise<number> {
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const [command, file, ...others] = positionals;
  if (command !== 'resolve' || file === undefined || others.length > 0) throw new Error('expected: resolve FILE');
  const inputs = await openInputs({ ...values, file, pullSecrets: values['pull-secret'] ?? [] });
  const outcome = await resolveTree(inputs, values.cache ?? join(homedir(), '.cache', 'janus', 'packages')).finally(inputs.close);
  process.stdout.write(values.json ? writeJson(outcome) : writeText(outcome));
  return exitCodes[outcome.kind];
}

async function resolveTree({ asked, pullSecrets, live }: Inputs, cacheDirectory: string): Promise<Outcome> {
  const client = createRegistryClient({ cacheDirectory, cacheBytes: 2 ** 30 });
  try {
    const registry = client.open({ pullSecrets, deadline });
    const tree: Tree = await readTree(asked, registry);
    if (tree.kind !== 'resolved') return tree;
    const faults = await compareWithLive(tree.packages, registry, live);
    if ('kind' in faults) return faults;
    return faults.length > 0 ? { kind: 'refused', faults } : tree;
  } finally {
    await client.close();
  }
}
