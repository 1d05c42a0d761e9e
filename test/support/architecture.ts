// The rules of imports and of pure folders, as functions from sources to findings. No finding means no violation.

import { packages } from './package-stages.ts';
import { codeOf, importsOf, type Source } from './sources.ts';
import { unitOf } from './stages.ts';
import { folder } from './unit.ts';

export type Rule = (sources: readonly Source[]) => readonly string[];

interface Edge {
  readonly from: string;
  readonly to: string;
  readonly isPackage: boolean;
}

function edgesOf(sources: readonly Source[]): readonly Edge[] {
  return sources.flatMap((source) =>
    importsOf(source).map(({ target, isPackage }) => ({ from: source.path, to: target, isPackage })),
  );
}

function refuse(sources: readonly Source[], isBreach: (edge: Edge) => boolean, why: string): readonly string[] {
  return edgesOf(sources)
    .filter(isBreach)
    .map(({ from, to }) => `${from} imports ${to}: ${why}`);
}

const inHooks = folder('hooks');

/** From outside, the engine uses only hashing, for names. */
export const engineStandsAlone: Rule = (sources) =>
  refuse(
    sources.filter(({ path }) => inHooks(path)),
    ({ to, isPackage }) => (isPackage ? to !== 'node:crypto' : !inHooks(to)),
    'hooks/ imports nothing from outside but node:crypto',
  );

export const everyFileHasAUnit: Rule = (sources) =>
  sources
    .filter(({ path }) => inHooks(path) && unitOf(path) === undefined)
    .map(({ path }) => `${path} belongs to no stage: put it into one, or add a unit to test/support/stages.ts`);

export const onlyLeftward: Rule = (sources) =>
  refuse(
    sources.filter(({ path }) => inHooks(path)),
    ({ from, to, isPackage }) => {
      const [importer, imported] = [unitOf(from), unitOf(to)];
      if (isPackage || importer === undefined || imported === undefined || importer === imported) return false;
      return !importer.sees.includes(imported.name);
    },
    'not a stage that it may see',
  );

const kubernetes = folder('server/kubernetes');
const registry = folder('server/registry');
const seam = ['hooks/objects/cluster.ts', 'hooks/transactions/call.ts', 'hooks/crossplane/call.ts'];
const registryPort = 'hooks/crossplane/registry.ts';
/** The entry points for the server. */
const entrances = [
  'hooks/transactions/reconcile.ts',
  'hooks/transactions/sweep.ts',
  'hooks/crossplane/reconcile.ts',
  'hooks/crossplane/customize.ts',
  'hooks/crossplane/definitions.ts',
  'hooks/crossplane/package-status.ts',
  'hooks/crossplane/own.ts',
];
/** What both adapters need. */
const beside = ['server/tenants/admission.ts', 'server/yaml-thread.ts'];
const isContent = folder('hooks/objects/content');
/** Values: of Kubernetes objects, and of a Transaction. */
const isModel = (path: string): boolean =>
  folder('hooks/transactions/model')(path) || (folder('hooks/objects')(path) && !isContent(path));
const isPackageModel = folder(packages('model'));

export const adapterSeesThePortOnly: Rule = (sources) =>
  refuse(
    sources.filter(({ path }) => kubernetes(path)),
    ({ to, isPackage }) => !isPackage && !kubernetes(to) && ![...seam, ...beside].includes(to) && !isModel(to),
    `server/kubernetes sees only hooks/transactions/call.ts, hooks/objects, hooks/transactions/model and ${beside.join(', ')}`,
  );

export const registrySeesItsPortOnly: Rule = (sources) =>
  refuse(
    sources.filter(({ path }) => registry(path)),
    ({ to, isPackage }) =>
      !isPackage && !registry(to) && !beside.includes(to) && to !== registryPort && !isModel(to) && !isPackageModel(to),
    `server/registry sees only ${registryPort}, hooks/crossplane/model, hooks/objects, hooks/transactions/model and ${beside.join(', ')}`,
  );

export const serverSeesTheSeamOnly: Rule = (sources) =>
  refuse(
    sources.filter(({ path }) => path.startsWith('server/') && !registry(path)),
    ({ to }) => inHooks(to) && ![...entrances, ...seam].includes(to) && !isModel(to) && !isPackageModel(to),
    `server/ starts the engine through ${entrances.join(' and ')} and sees none of its stages`,
  );

const cli = folder('cli');
/** The entrances to the engine for the command line. */
const inspections = ['hooks/transactions/inspect.ts', 'hooks/transactions/inspection.ts'];
/** What reads texts of users without a thread. */
const readers = ['server/yaml.ts', 'server/manifests/yaml-text.ts', 'server/expressions/program.ts'];
/** All that cli/ may import beside itself, files and folders: the table of docs/decisions/0039-a-bundle-for-the-cli.md. */
export const seenByCli = [
  ...inspections,
  'hooks/objects',
  'hooks/transactions/model',
  'server/kubernetes',
  'schemas',
  ...readers,
  'package.json',
];

/** Those of them that an import of cli/ leads to. */
export function importedByCli(sources: readonly Source[]): readonly string[] {
  const targets = edgesOf(sources.filter(({ path }) => cli(path))).map(({ to }) => to);
  return seenByCli.filter((seen) => targets.some((to) => to === seen || folder(seen)(to)));
}

export const cliSeesTheSeamOnly: Rule = (sources) =>
  refuse(
    sources.filter(({ path }) => cli(path)),
    ({ to, isPackage }) =>
      !isPackage && !cli(to) && (isContent(to) || !seenByCli.some((seen) => to === seen || folder(seen)(to))),
    `cli/ sees only ${seenByCli.join(', ')}`,
  );

export const nothingNeedsTheCli: Rule = (sources) =>
  refuse(
    sources.filter(({ path }) => !cli(path)),
    ({ to, isPackage }) => !isPackage && cli(to),
    'the engine, its server and its schemas run without the command line',
  );

const show = folder('cli/show');

export const showSeesValuesOnly: Rule = (sources) =>
  refuse(
    sources.filter(({ path }) => show(path)),
    ({ to, isPackage }) =>
      isPackage
        ? !['node:util', 'js-yaml', 'diff', 'string-width', 'wrap-ansi'].includes(to)
        : !show(to) && to !== 'hooks/transactions/inspection.ts' && !isModel(to),
    'cli/show turns values into lines, and sees cli/show, hooks/transactions/inspection.ts, hooks/objects and hooks/transactions/model',
  );

export const nothingImportsTests: Rule = (sources) =>
  refuse(sources, ({ to, isPackage }) => !isPackage && to.startsWith('test/'), 'nothing that runs needs test/');

/** Every cycle of imports, once. */
export const noCycles: Rule = (sources) => {
  const edges = Map.groupBy(edgesOf(sources), ({ from }) => from);
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) found.push(`cycle: ${[...trail.slice(trail.indexOf(path)), path].join(' -> ')}`);
    if (done.has(path) || trail.includes(path)) return;
    for (const { to } of edges.get(path) ?? []) visit(to, [...trail, path]);
    done.add(path);
  };
  for (const { path } of sources) visit(path, []);
  return found;
};

function refuseCode(sources: readonly Source[], forbidden: RegExp, why: string): readonly string[] {
  return sources.flatMap((source) => {
    const found = codeOf(source).match(forbidden);
    return found === null ? [] : [`${source.path} has \`${found[0].trim()}\`: ${why}`];
  });
}

const impure =
  /\b(async|await|Promise|process|console|setTimeout|setInterval|fetch|performance)\b|\bDate\.now\b|\bnew Date\(\s*\)|\bMath\.random\b/;

export const pureIsPure: Rule = (sources) =>
  refuseCode(
    sources.filter(({ path }) => unitOf(path)?.nature === 'pure'),
    impure,
    'a pure stage has no time, no chance, no waiting and no environment',
  );

export const showIsPure: Rule = (sources) =>
  refuseCode(
    sources.filter(({ path }) => show(path)),
    impure,
    'what is shown follows from values alone',
  );

// Methods are strings, which codeOf leaves out; the text has comments too, which is stricter.
const writing = /'(POST|PUT|PATCH|DELETE)'|\bcluster\.send\b|\bcreateTransport\b/;

export const cliWritesInOnePlace: Rule = (sources) =>
  sources
    .filter(({ path, text }) => cli(path) && path !== 'cli/cluster/writes.ts' && writing.test(text))
    .map(({ path }) => `${path} writes to a cluster: cli/cluster/writes.ts alone does`);

export const argumentsAreReadOnce: Rule = (sources) =>
  refuseCode(
    sources.filter(({ path }) => cli(path) && path !== 'cli/main.ts'),
    /\bprocess\b/,
    'cli/main.ts alone sees the process, and hands on what a command needs',
  );

export const theSeamIsTypesOnly: Rule = (sources) =>
  refuseCode(
    sources.filter(({ path }) => unitOf(path)?.nature === 'types'),
    /^(export )?(const|let|var|function|async function|class|enum)\b/m,
    'the port and the seam are declarations, nothing that runs',
  );

export const noBarrels: Rule = (sources) =>
  refuseCode(sources, /^export\s+(type\s+)?(\*|\{[^}]*\})[^;\n]*\bfrom\b/m, 'import from where it is declared');

export const noDefaultExports: Rule = (sources) =>
  refuseCode(sources, /^export\s+default\b|\bas default\b/m, 'name what is exported');

const drawers = /^(utils?|helpers?|commons?|misc|shared|lib)$/;

export const noJunkDrawers: Rule = (sources) =>
  sources
    .filter(({ path }) => path.split('/').some((part) => part.split(/[.-]/).some((word) => drawers.test(word))))
    .map(({ path }) => `${path} is named after nothing: name it after what it holds`);

export const longestFile = 300;

export const filesAreShort: Rule = (sources) =>
  sources
    .map(({ path, text }) => ({ path, lines: text.replace(/\n$/, '').split('\n').length }))
    .filter(({ lines }) => lines > longestFile)
    .map(({ path, lines }) => `${path} has ${lines} lines, at most ${longestFile}: it holds more than one thing`);
