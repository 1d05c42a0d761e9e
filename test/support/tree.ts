// The folders of the sources, as docs/architecture.md shows them: one line for each.
import { units } from './stages.ts';

/** Folders that are no stage of a hook. */
const others: readonly (readonly [folder: string, what: string])[] = [
  ['hooks', 'the hooks: an import goes left to right in the table of stages, never back'],
  ['hooks/objects', 'what the hooks share: Kubernetes objects as JSON, and the port to the cluster'],
  ['hooks/objects/content', 'objects as fields: ownership (managedFields), list keys, three-way merge'],
  ['hooks/transactions', 'the hook for a Transaction: a saga; reconcile.ts is the program'],
  [
    'hooks/crossplane',
    'the hook for a package transaction; each of its stages is a Transaction; engine.ts is its one entrance to the engine',
  ],
  ['server', 'serves HTTP, reads the configuration, starts the hooks'],
  ['server/access', 'who may call'],
  ['server/expressions', 'CEL expressions of gates, in a thread'],
  ['server/kubernetes', 'requests to the API server: for targets as the ServiceAccount, else as the engine'],
  ['server/manifests', 'YAML of sources, in a thread'],
  ['server/registry', 'fetches packages from OCI registries, and reads their layers'],
  ['server/routes', 'the webhooks, liveness and readiness, metrics'],
  ['server/telemetry', 'log, metrics, Events'],
  ['server/tenants', 'how tenants share the process: one fair queue for calls, requests and threads; turns of the event loop'],
  ['server/threads', 'worker threads: bounds and restarts'],
  ['cli', 'kubectl janus: command/ has the descriptions, run/ what they do'],
  ['schemas', 'JSON schemas of the CRDs, of calls and of annotations'],
  ['manifests', 'CRDs, RBAC, policies, the Deployment: generated and tested'],
  ['test', 'test/README.md says what is in it'],
];

const titles: ReadonlyMap<string, string> = new Map(others);

/** One line for a folder: its name below its parent, and what it holds. Undefined for a folder that the list lacks. */
function lineOf(folder: string): string | undefined {
  const unit = units.find(({ holds }) => holds(`${folder}/a.ts`));
  const what = titles.get(folder) ?? (unit?.name.endsWith(folder.slice(folder.lastIndexOf('/') + 1)) ? unit.what : undefined);
  if (what === undefined) return undefined;
  const depth = folder.split('/').length - 1;
  return `${'  '.repeat(depth)}${folder.slice(folder.lastIndexOf('/') + 1)}/`.padEnd(19) + what;
}

/** As a code block. `folders` in the order of a directory listing, parents before children. */
export function treeOf(folders: readonly string[]): string {
  return ['```', ...folders.map((folder) => lineOf(folder) ?? `${folder}/ is not in test/support/tree.ts`), '```'].join('\n');
}
