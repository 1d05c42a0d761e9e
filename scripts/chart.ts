// `npm run chart`: lints and renders the Helm chart with Helm itself, and compares it with what kustomize renders from manifests/.
// Not among the tests, because building Helm takes minutes; the workflow runs it.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { buildHelm } from '../test/tools/helm/helm.ts';
import { buildPackaging } from '../test/tools/packaging/packaging.ts';

const root = join(import.meta.dirname, '..');
const report = (line: string): boolean => process.stderr.write(`${line}\n`);
const helm = await buildHelm(report);
const { kustomize } = await buildPackaging(report);
const directory = mkdtempSync(join(tmpdir(), 'janus-chart-'));
process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
for (const folder of ['manifests', 'examples', 'charts'])
  cpSync(join(root, folder), join(directory, folder), { recursive: true });

type Fields = Readonly<Record<string, unknown>>;
type Objects = ReadonlyMap<string, Fields>;

const served = ['team-a', 'team-b'].map((name) => ({ name, serviceAccounts: ['deployer'] }));
const asValues = (values: Fields): readonly string[] =>
  Object.entries(values).flatMap(([key, value]) => ['--set-json', `${key}=${JSON.stringify(value)}`]);
const chart = 'charts/janus';

function run(program: string, ...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: directory, encoding: 'utf8' });
  return { succeeded: status === 0, stdout, said: `${stdout}${stderr}` };
}

function objectsOf(rendered: ReturnType<typeof run>): Objects {
  if (!rendered.succeeded) throw new Error(rendered.said);
  const documents = parseAllDocuments(rendered.stdout).map((document) => document.toJS() as Fields | null);
  const objects = documents.filter((object) => object !== null);
  return new Map(objects.map((object) => [nameOf(object), object]));
}

function nameOf({ kind, metadata }: Fields): string {
  const { namespace = '', name } = metadata as Fields;
  return `${kind} ${namespace}/${name}`;
}

function template(values: Fields = {}, namespace = 'janus-system'): Objects {
  return objectsOf(run(helm, 'template', 'janus', chart, '--namespace', namespace, ...asValues(values)));
}

/**
 * What kustomize renders, without what Helm does in another way: Helm creates the namespace itself, and needs to know what to keep.
 */
function kustomized(folder: string): Objects {
  const objects = new Map(objectsOf(run(kustomize, 'build', folder)));
  objects.delete('Namespace /janus-system');
  const definition = 'CustomResourceDefinition /transactions.tx.janus.io';
  const { metadata, ...rest } = objects.get(definition) ?? {};
  objects.set(definition, { ...rest, metadata: { ...(metadata as Fields), annotations: keep } });
  return objects;
}

const keep = { 'helm.sh/resource-policy': 'keep' };

// The two programs fold long YAML lines at different places: white space between words does not count.
function plain(object: Fields | undefined): unknown {
  const folded = (_key: string, value: unknown): unknown => (typeof value === 'string' ? value.replace(/\s+/g, ' ') : value);
  return object === undefined ? undefined : (JSON.parse(JSON.stringify(object, folded)) as unknown);
}

function differences(found: Objects, expected: Objects): readonly string[] {
  const names = [...new Set([...found.keys(), ...expected.keys()])].sort();
  const differing = names.filter((name) => !isDeepStrictEqual(plain(found.get(name)), plain(expected.get(name))));
  return differing.map(
    (name) =>
      `${name} differs: the chart has ${JSON.stringify(found.get(name))}, kustomize ${JSON.stringify(expected.get(name))}`,
  );
}

const refused: readonly Fields[] = [
  { replicas: -1 },
  { logLevel: 'loud' },
  { novel: 1 },
  { namespaces: [{ name: 'a', serviceAccounts: [] }] },
];

const checks: Readonly<Record<string, () => readonly string[]>> = {
  'helm lint': () => {
    const { succeeded, said } = run(helm, 'lint', '--strict', chart);
    return succeeded ? [] : [said];
  },
  'by default the objects are those of manifests': () => differences(template(), kustomized('manifests')),
  'for listed namespaces they are those of examples/namespaced': () =>
    differences(template({ namespaces: served }), kustomized('examples/namespaced')),
  'in another namespace, no object names janus-system': () =>
    [...template({}, 'elsewhere').values()].filter((object) => JSON.stringify(object).includes('janus-system')).map(nameOf),
  'the CRD and the NetworkPolicy can be left out': () =>
    [...template({ crd: { install: false }, networkPolicy: { enabled: false } }).keys()].filter((name) =>
      /^(CustomRes|NetworkP)/.test(name),
    ),
  'invalid values are refused': () =>
    refused
      .filter((values) => run(helm, 'template', 'janus', chart, ...asValues(values)).succeeded)
      .map((values) => JSON.stringify(values)),
};

let failed = 0;
for (const [what, check] of Object.entries(checks)) {
  const faults = check();
  if (faults.length > 0) failed += 1;
  process.stdout.write(
    `${faults.length === 0 ? 'ok     ' : 'FAILED '}${what}\n${faults.map((fault) => `  ${fault}\n`).join('')}`,
  );
}
process.exitCode = failed === 0 ? 0 : 1;
