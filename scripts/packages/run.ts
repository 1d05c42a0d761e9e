// `npm run packages`: reads its arguments, resolves a tree, and writes the outcome (scripts/packages.ts lists the arguments).
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { brokenFault, type DefinitionChange } from '../../hooks/crossplane/checks/conflicts.ts';
import type { PackageFault } from '../../hooks/crossplane/model/fault.ts';
import { compareWithLive } from '../../hooks/crossplane/observe/comparison.ts';
import { faultsOf } from '../../hooks/crossplane/observe/dropped.ts';
import { type Images, openImages } from '../../hooks/crossplane/observe/images.ts';
import { ReadFailed } from '../../hooks/crossplane/observe/read.ts';
import { readTree, type Tree } from '../../hooks/crossplane/observe/tree.ts';
import { createRegistryClient } from '../../server/registry/client.ts';
import { type Inputs, openCluster, openInputs, Unanswered } from './inputs.ts';
import { leave } from './leave.ts';
import { type Outcome, writeJson, writeText } from './outcome.ts';

const options = {
  lock: { type: 'string' },
  crds: { type: 'string' },
  kubeconfig: { type: 'string' },
  namespace: { type: 'string', default: 'crossplane-system' },
  crossplane: { type: 'string' },
  'pull-secret': { type: 'string', multiple: true },
  authority: { type: 'string' },
  'trusted-root': { type: 'string' },
  cache: { type: 'string' },
  json: { type: 'boolean', default: false },
} as const;

const exitCodes: Readonly<Record<Outcome['kind'], number>> = { resolved: 0, refused: 1, failed: 2 };
const wrongCall = 64;
const deadline = 600_000;

/** The outputs of a run. */
interface Terminal {
  readonly out: (text: string) => void;
  readonly error: (text: string) => void;
}

/** Runs the command with these arguments; its exit code. */
export async function runPackages(args: readonly string[], terminal: Terminal): Promise<number> {
  try {
    return await run(args, terminal);
  } catch (error) {
    terminal.error(`packages: ${error instanceof Error ? error.message : String(error)}\n`);
    return error instanceof Unanswered || error instanceof ReadFailed ? exitCodes.failed : wrongCall;
  }
}

async function run(args: readonly string[], { out }: Terminal): Promise<number> {
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
  const [command, file, ...others] = positionals;
  if (command === 'leave' && file === undefined) return runLeave(values.kubeconfig, out);
  if (command !== 'resolve' || file === undefined || others.length > 0) throw new Error('expected: resolve FILE, or leave');
  const { 'pull-secret': pullSecrets = [], 'trusted-root': trustedRoot } = values;
  const inputs = await openInputs({ ...values, file, pullSecrets, trustedRoot });
  const outcome = await resolveTree(inputs, values.cache ?? join(homedir(), '.cache', 'janus', 'packages')).finally(inputs.close);
  out(values.json ? writeJson(outcome) : writeText(outcome));
  return exitCodes[outcome.kind];
}

async function runLeave(kubeconfig: string | undefined, out: Terminal['out']): Promise<number> {
  if (kubeconfig === undefined) throw new Error('leave: expected --kubeconfig FILE');
  const cluster = openCluster(kubeconfig);
  const hasLeft = await leave(cluster, out).finally(() => cluster.close());
  return hasLeft ? exitCodes.resolved : exitCodes.refused;
}

async function resolveTree(inputs: Inputs, cacheDirectory: string): Promise<Outcome> {
  const { asked, live } = inputs;
  const client = createRegistryClient({ cacheDirectory, cacheBytes: 2 ** 30 });
  try {
    const registry = await openRegistry(inputs, client.open);
    if ('reason' in registry) return { kind: 'refused', faults: [registry] };
    const tree: Tree = await readTree(asked, registry);
    if (tree.kind !== 'resolved') return tree;
    const unsigned = 'unsigned' in registry ? await unsignedIn(tree, registry) : undefined;
    if (unsigned !== undefined) return unsigned;
    const notes = new Set<string>();
    const faults = await compareWithLive(tree.packages, {
      registry,
      live,
      faultsOfBroken: (one) => decidedBy(inputs, one, notes),
    });
    // Without a progress there is no deadline.
    if (faults === 'unfinished') throw new Error('the comparison with the cluster ended early');
    if ('kind' in faults) return faults;
    return faults.length > 0 ? { kind: 'refused', faults } : { ...tree, notes: [...notes].sort() };
  } finally {
    await client.close();
  }
}

/** With a cluster, its instances decide, as in the hook. Files have none. */
async function decidedBy(
  { configs, change }: Inputs,
  broken: DefinitionChange,
  notes: Set<string>,
): Promise<readonly PackageFault[]> {
  if (configs !== undefined) return faultsOf(configs.reader, change, { broken, notes });
  const fault = brokenFault(broken);
  return [{ ...fault, message: `${fault.message}; instances were not read: with --kubeconfig they decide` }];
}

/** With a cluster, its ImageConfigs count. A fault if the authority of registries cannot be read. */
function openRegistry({ asked, pullSecrets, configs }: Inputs, open: ReturnType<typeof createRegistryClient>['open']) {
  const root = asked.reference.source;
  if (configs === undefined) return open({ pullSecrets, deadline, root });
  const until = performance.now() + deadline;
  return openImages({ ...configs, open, root, pullSecrets, left: () => until - performance.now() });
}

/** Undefined if all packages that change are signed as ImageConfigs require. */
async function unsignedIn({ packages }: Extract<Tree, { kind: 'resolved' }>, images: Images): Promise<Outcome | undefined> {
  const faults: PackageFault[] = [];
  for (const { source, tag, digest } of packages.filter(({ change }) => change !== 'kept')) {
    const found = await images.unsigned({ source, version: digest, tag });
    if (found === undefined) continue;
    if ('kind' in found) return found;
    faults.push(found);
  }
  return faults.length > 0 ? { kind: 'refused', faults } : undefined;
}
