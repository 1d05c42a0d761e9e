// The rules of who may import whom and of what is pure, as functions from sources to findings. No finding, no breach.
import { codeOf, importsOf, type Source } from './sources.ts';

export type Rule = (sources: readonly Source[]) => readonly string[];

interface Unit {
  readonly name: string;
  readonly holds: (path: string) => boolean;
  /** Units to the left of it that it may see; itself always. */
  readonly sees: readonly string[];
  /** `pure`: a function of its arguments. `types`: nothing but declarations. `effects`: may use the port. */
  readonly nature: 'pure' | 'types' | 'effects';
}

function folder(name: string): (path: string) => boolean {
  return (path) => path.startsWith(`${name}/`);
}

function file(name: string): (path: string) => boolean {
  return (path) => path === name;
}

const observation = (path: string): boolean => /^hooks\/observe\/(observation|carry)\.ts$/.test(path);
const values = ['model', 'cluster'];
const checked = [...values, 'content', 'writes', 'snapshots', 'checks', 'due', 'locks'];
const observed = [...checked, 'in-flight', 'observation'];
const decided = [...observed, 'attribution', 'decide'];
const planned = [...decided, 'plan'];

/** From left to right; no unit sees one to the right of it. The first unit that holds a file is its own. */
export const units: readonly Unit[] = [
  { name: 'model', holds: folder('hooks/model'), sees: [], nature: 'pure' },
  { name: 'cluster', holds: file('hooks/cluster.ts'), sees: ['model'], nature: 'types' },
  { name: 'call', holds: file('hooks/call.ts'), sees: values, nature: 'types' },
  { name: 'content', holds: folder('hooks/content'), sees: values, nature: 'pure' },
  { name: 'writes', holds: folder('hooks/writes'), sees: [...values, 'content'], nature: 'pure' },
  { name: 'snapshots', holds: folder('hooks/snapshots'), sees: [...values, 'content', 'writes'], nature: 'pure' },
  { name: 'checks', holds: folder('hooks/checks'), sees: [...values, 'content', 'snapshots'], nature: 'pure' },
  { name: 'due', holds: file('hooks/due.ts'), sees: ['model'], nature: 'pure' },
  { name: 'locks', holds: folder('hooks/locks'), sees: [...values, 'writes', 'snapshots'], nature: 'pure' },
  { name: 'in-flight', holds: folder('hooks/in-flight'), sees: [...values, 'locks'], nature: 'pure' },
  { name: 'observation', holds: observation, sees: [...checked, 'in-flight'], nature: 'pure' },
  { name: 'observe', holds: folder('hooks/observe'), sees: observed, nature: 'effects' },
  { name: 'memory', holds: file('hooks/memory.ts'), sees: [...values, 'in-flight', 'observation', 'observe'], nature: 'effects' },
  {
    name: 'attribution',
    holds: folder('hooks/attribution'),
    sees: [...values, 'content', 'checks', 'writes', 'snapshots'],
    nature: 'pure',
  },
  { name: 'decide', holds: folder('hooks/decide'), sees: [...observed, 'attribution'], nature: 'pure' },
  { name: 'plan', holds: folder('hooks/plan'), sees: decided, nature: 'pure' },
  { name: 'sweep', holds: file('hooks/sweep.ts'), sees: [...values, 'due', 'writes', 'locks', 'snapshots'], nature: 'effects' },
  { name: 'perform', holds: folder('hooks/perform'), sees: [...values, 'writes', 'plan'], nature: 'effects' },
  { name: 'outcome', holds: folder('hooks/outcome'), sees: planned, nature: 'pure' },
  { name: 'report', holds: folder('hooks/report'), sees: [...planned, 'call', 'outcome'], nature: 'pure' },
  {
    name: 'sync',
    holds: (path) => /^hooks\/(sync|completed-step|looking|reply|serving|rescue)\.ts$/.test(path),
    sees: [...planned, 'call', 'observe', 'memory', 'perform', 'outcome', 'report'],
    nature: 'effects',
  },
];

function unitOf(path: string): Unit | undefined {
  return units.find(({ holds }) => holds(path));
}

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

/** Hashing for names is all that the engine has of the outside. */
export const engineStandsAlone: Rule = (sources) =>
  refuse(
    sources.filter(({ path }) => inHooks(path)),
    ({ to, isPackage }) => (isPackage ? to !== 'node:crypto' : !inHooks(to)),
    'hooks/ imports nothing from outside but node:crypto',
  );

export const everyFileHasAUnit: Rule = (sources) =>
  sources
    .filter(({ path }) => inHooks(path) && unitOf(path) === undefined)
    .map(({ path }) => `${path} belongs to no stage: put it into one, or add a unit to test/support/architecture.ts`);

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
const seam = ['hooks/cluster.ts', 'hooks/call.ts'];
/** What the server starts. */
const entrances = ['hooks/sync.ts', 'hooks/sweep.ts'];
const isModel = folder('hooks/model');

export const adapterSeesThePortOnly: Rule = (sources) =>
  refuse(
    sources.filter(({ path }) => kubernetes(path)),
    ({ to, isPackage }) => !isPackage && !kubernetes(to) && !seam.includes(to) && !isModel(to),
    'server/kubernetes sees only hooks/cluster.ts, hooks/call.ts and hooks/model',
  );

export const serverSeesTheSeamOnly: Rule = (sources) =>
  refuse(
    sources.filter(({ path }) => path.startsWith('server/')),
    ({ to }) => inHooks(to) && !entrances.includes(to) && !seam.includes(to) && !isModel(to),
    `server/ starts the engine through ${entrances.join(' and ')} and sees none of its stages`,
  );

export const nothingImportsTests: Rule = (sources) =>
  refuse(sources, ({ to, isPackage }) => !isPackage && to.startsWith('test/'), 'nothing that runs needs test/');

/** Every cycle of imports, each named once. */
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

export const longestFile = 200;

export const filesAreShort: Rule = (sources) =>
  sources
    .map(({ path, text }) => ({ path, lines: text.replace(/\n$/, '').split('\n').length }))
    .filter(({ lines }) => lines > longestFile)
    .map(({ path, lines }) => `${path} has ${lines} lines, at most ${longestFile}: it holds more than one thing`);
