// Who may import whom, which folders are pure, and the names and sizes of files: the test reads the sources. Each rule is tried on a
// made-up source that it must refuse and on one that it must accept, so that it is known to be able to fail.
import { globSync, readFileSync } from 'node:fs';
import t from 'tap';
import {
  adapterSeesThePortOnly,
  argumentsAreReadOnce,
  cliSeesTheSeamOnly,
  cliWritesInOnePlace,
  engineStandsAlone,
  everyFileHasAUnit,
  filesAreShort,
  importedByCli,
  longestFile,
  noBarrels,
  noCycles,
  noDefaultExports,
  noJunkDrawers,
  nothingImportsTests,
  nothingNeedsTheCli,
  onlyLeftward,
  pureIsPure,
  type Rule,
  registrySeesItsPortOnly,
  seenByCli,
  serverSeesTheSeamOnly,
  showIsPure,
  showSeesValuesOnly,
  theSeamIsTypesOnly,
} from './support/architecture.ts';
import { ceilings, excessOf, sizeOf } from './support/ceilings.ts';
import { codeOf, importsOf, readSources, type Source } from './support/sources.ts';
import { units } from './support/stages.ts';

interface Row {
  readonly reason: string;
  readonly rule: Rule;
  readonly refused: readonly (readonly [path: string, text: string])[];
  readonly accepted: readonly (readonly [path: string, text: string])[];
}

const rows: readonly Row[] = [
  {
    reason: 'hooks imports nothing from outside but hashing',
    rule: engineStandsAlone,
    refused: [
      ['hooks/transactions/model/a.ts', "import { globSync, readFileSync } from 'node:fs';"],
      ['hooks/transactions/decide/a.ts', "import type { FastifyInstance } from 'fastify';"],
      ['hooks/transactions/reconcile.ts', "import { createCluster } from '../../server/kubernetes/cluster.ts';"],
      ['hooks/transactions/reconcile.ts', "const loaded = await import('undici');"],
    ],
    accepted: [
      ['hooks/transactions/model/a.ts', "import { createHash } from 'node:crypto';\nimport { b } from './b.ts';"],
      ['hooks/transactions/model/b.ts', "// copied from 'node:fs'\nconst text = `import x from 'fastify'`;"],
    ],
  },
  {
    reason: 'every file of the engine belongs to a stage',
    rule: everyFileHasAUnit,
    refused: [['hooks/elsewhere/a.ts', '']],
    accepted: [['hooks/transactions/plan/a.ts', '']],
  },
  {
    reason: 'imports within hooks go leftward only',
    rule: onlyLeftward,
    refused: [
      ['hooks/objects/a.ts', "import { merge } from './content/merge.ts';"],
      ['hooks/objects/a.ts', "import type { Transaction } from '../transactions/model/transaction.ts';"],
      ['hooks/objects/content/a.ts', "import type { Fault } from '../../transactions/checks/fault.ts';"],
      ['hooks/transactions/due.ts', "import type { Write } from '../objects/cluster.ts';"],
      ['hooks/transactions/checks/a.ts', "import { lockOf } from '../writes/lease.ts';"],
      ['hooks/transactions/observe/observation.ts', "import type { Step } from '../decide/step.ts';"],
      ['hooks/transactions/observe/a.ts', "import type { Step } from '../decide/step.ts';"],
      ['hooks/transactions/decide/a.ts', "import { read } from '../observe/read.ts';"],
      ['hooks/transactions/decide/a.ts', "import type { Carry } from '../observe/begin.ts';"],
      ['hooks/transactions/decide/a.ts', "import type { Plan } from '../plan/mutation.ts';"],
      ['hooks/transactions/plan/a.ts', "import { perform } from '../perform/perform.ts';"],
      ['hooks/transactions/perform/a.ts', "import { decide } from '../decide/decide.ts';"],
      ['hooks/transactions/report/a.ts', "import { createSync } from '../reconcile.ts';"],
      ['hooks/objects/cluster.ts', "import type { Merge } from './content/merge.ts';"],
      ['hooks/transactions/memory.ts', "import type { Step } from './decide/step.ts';"],
      ['hooks/transactions/reconcile.ts', "import { readConstraint } from '../crossplane/model/constraint.ts';"],
      ['hooks/crossplane/model/a.ts', "import type { Meta } from '../registry.ts';"],
      ['hooks/crossplane/resolve/a.ts', "import type { Registry } from '../registry.ts';"],
      ['hooks/crossplane/observe/a.ts', "import { decide } from '../../transactions/decide/decide.ts';"],
    ],
    accepted: [
      [
        'hooks/transactions/decide/a.ts',
        "import type { Observation } from '../observe/observation.ts';\nimport { setStatus } from './waiting.ts';",
      ],
      [
        'hooks/transactions/observe/a.ts',
        "import type { ItemView } from './observation.ts';\nimport type { Reader } from '../../objects/cluster.ts';",
      ],
      [
        'hooks/transactions/reconcile.ts',
        "import { observe } from './observe/observe.ts';\nimport { perform } from './perform/perform.ts';",
      ],
      [
        'hooks/crossplane/resolve/a.ts',
        "import { at } from '../../objects/json.ts';\nimport { admits } from '../model/constraint.ts';",
      ],
      [
        'hooks/crossplane/observe/a.ts',
        "import type { Registry } from '../registry.ts';\nimport { resolve } from '../resolve/resolution.ts';",
      ],
    ],
  },
  {
    reason: 'server/kubernetes sees the port and the model only',
    rule: adapterSeesThePortOnly,
    refused: [
      ['server/kubernetes/a.ts', "import type { Change } from '../../hooks/transactions/writes/change.ts';"],
      ['server/kubernetes/a.ts', "import { record } from '../telemetry.ts';"],
    ],
    accepted: [
      [
        'server/kubernetes/a.ts',
        "import { request } from 'undici';\nimport type { Cluster } from '../../hooks/objects/cluster.ts';\nimport { parseJson } from '../../hooks/objects/json.ts';",
      ],
    ],
  },
  {
    reason: 'server/registry sees its port and the model of packages only',
    rule: registrySeesItsPortOnly,
    refused: [
      ['server/registry/a.ts', "import { resolve } from '../../hooks/crossplane/resolve/resolution.ts';"],
      ['server/registry/a.ts', "import { createTransport } from '../kubernetes/transport.ts';"],
    ],
    accepted: [
      [
        'server/registry/a.ts',
        "import { extract } from 'tar-stream';\nimport type { Registry } from '../../hooks/crossplane/registry.ts';\nimport { createAdmission } from '../tenants/admission.ts';",
      ],
    ],
  },
  {
    reason: 'the server sees no stage of the engine',
    rule: serverSeesTheSeamOnly,
    refused: [['server/app.ts', "import { decide } from '../hooks/transactions/decide/decide.ts';"]],
    accepted: [['server/main.ts', "import { createSync } from '../hooks/transactions/reconcile.ts';"]],
  },
  {
    reason: 'the command line sees no stage of the engine',
    rule: cliSeesTheSeamOnly,
    refused: [
      ['cli/command/a.ts', "import { decide } from '../../hooks/transactions/decide/decide.ts';"],
      ['cli/cluster/a.ts', "import { createSync } from '../../hooks/transactions/reconcile.ts';"],
      ['cli/show/a.ts', "import type { Config } from '../../server/config.ts';"],
      ['cli/run/a.ts', "import { needsOf } from '../../hooks/transactions/checks/permissions.ts';"],
      ['cli/run/b.ts', "import { merge } from '../../hooks/objects/content/merge.ts';"],
      ['cli/run/c.ts', "import { survey } from '../../hooks/transactions/inspect/preflight.ts';"],
      ['cli/run/d.ts', "import type { Reply } from '../../hooks/transactions/call.ts';"],
      ['cli/input/a.ts', "import { createYamlThread } from '../../server/yaml-thread.ts';"],
      ['cli/input/b.ts', "import { bounds } from '../../server/manifests/bounds.ts';"],
      ['cli/cluster/b.ts', "import { createExpressions } from '../../server/expressions/expressions.ts';"],
    ],
    accepted: [
      ['cli/input/a.ts', "import { readYaml } from '../../server/yaml.ts';"],
      ['cli/cluster/b.ts', "import { manifestsInProcess } from '../../server/manifests/yaml-text.ts';"],
      ['cli/cluster/c.ts', "const { compile } = await import('../../server/expressions/program.ts');"],
      ['cli/run/a.ts', "import { version } from '../../package.json' with { type: 'json' };"],
      [
        'cli/cluster/a.ts',
        "import { KubeConfig } from '@kubernetes/client-node/dist/config.js';\nimport type { Reader } from '../../hooks/objects/cluster.ts';\nimport type { Plan } from '../../hooks/transactions/inspection.ts';\nimport { createCluster } from '../../server/kubernetes/cluster.ts';\nimport { at } from '../../hooks/objects/json.ts';\nimport { mostChanges } from '../../schemas/transaction-spec.ts';",
      ],
    ],
  },
  {
    reason: 'nothing else needs the command line',
    rule: nothingNeedsTheCli,
    refused: [
      ['hooks/transactions/inspect.ts', "import { treeOf } from '../../cli/show/tree.ts';"],
      ['server/kubernetes/a.ts', "import type { Session } from '../../cli/cluster/session.ts';"],
    ],
    accepted: [['cli/main.ts', "import { runProgram } from './command/program.ts';"]],
  },
  {
    reason: 'cli/show sees values',
    rule: showSeesValuesOnly,
    refused: [
      ['cli/show/a.ts', "import { globSync, readFileSync } from 'node:fs';"],
      ['cli/show/a.ts', "import type { Session } from '../cluster/session.ts';"],
    ],
    accepted: [
      [
        'cli/show/a.ts',
        "import { styleText } from 'node:util';\nimport type { Plan } from '../../hooks/transactions/inspection.ts';\nimport { b } from './b.ts';",
      ],
    ],
  },
  {
    reason: 'cli/show has no time, no chance, no waiting and no environment',
    rule: showIsPure,
    refused: [
      ['cli/show/a.ts', 'const now = Date.now();'],
      ['cli/show/b.ts', 'const width = process.stdout.columns;'],
    ],
    accepted: [['cli/show/a.ts', 'export const lines = (now: number): string => String(now);']],
  },
  {
    reason: 'the command line writes in one place',
    rule: cliWritesInOnePlace,
    refused: [
      ['cli/command/a.ts', "await transport.request({ method: 'PATCH', path }, caller);"],
      ['cli/cluster/b.ts', 'await session.cluster.send(write);'],
    ],
    accepted: [
      ['cli/cluster/writes.ts', "await transport.request({ method: 'PATCH', path }, caller);"],
      ['cli/cluster/a.ts', "await transport.request({ method: 'GET', path }, caller);"],
    ],
  },
  {
    reason: 'cli/main.ts alone sees the process',
    rule: argumentsAreReadOnce,
    refused: [['cli/command/a.ts', 'const words = process.argv.slice(2);']],
    accepted: [['cli/main.ts', 'const words = process.argv.slice(2);']],
  },
  {
    reason: 'nothing imports test/',
    rule: nothingImportsTests,
    refused: [['server/app.ts', "import { real } from '../test/server/kubernetes/real.ts';"]],
    accepted: [['server/app.ts', "import { readConfig } from './config.ts';"]],
  },
  {
    reason: 'no cycles, types included',
    rule: noCycles,
    refused: [
      ['hooks/transactions/model/a.ts', "import type { B } from './b.ts';"],
      ['hooks/transactions/model/b.ts', "import { c } from './c.ts';"],
      ['hooks/transactions/model/c.ts', "import { a } from './a.ts';"],
    ],
    accepted: [
      ['hooks/transactions/model/a.ts', "import type { B } from './b.ts';\nimport { c } from './c.ts';"],
      ['hooks/transactions/model/b.ts', "import { c } from './c.ts';"],
      ['hooks/transactions/model/c.ts', ''],
    ],
  },
  {
    reason: 'pure stages have no time, no chance, no waiting and no environment',
    rule: pureIsPure,
    refused: [
      ['hooks/transactions/decide/a.ts', 'export async function decide() {}'],
      ['hooks/transactions/decide/b.ts', 'const later: Promise<void> = start();'],
      ['hooks/transactions/plan/a.ts', 'const now = Date.now();'],
      ['hooks/transactions/plan/b.ts', 'const now = new Date();'],
      ['hooks/transactions/report/a.ts', 'const jitter = Math.random();'],
      ['hooks/transactions/model/a.ts', 'const level = process.env.LOG_LEVEL;'],
      ['hooks/objects/content/a.ts', "console.log('merged');"],
      ['hooks/transactions/observe/observation.ts', 'export const read = async () => undefined;'],
      ['hooks/transactions/checks/a.ts', `const text = \`\${await read()}\`;`],
    ],
    accepted: [
      ['hooks/transactions/decide/a.ts', '// await nothing, no Promise, Date.now() neither\nconst text = "async process";'],
      ['hooks/transactions/model/a.ts', 'const day = new Date(milliseconds);\nconst quoted = /async `await`/;'],
      ['hooks/transactions/model/b.ts', `const nested = \`a \${flag ? \`Promise \${name}\` : "await"} process\`;\nconst y = 1;`],
      ['hooks/transactions/observe/read.ts', 'export async function read(): Promise<void> {}'],
    ],
  },
  {
    reason: 'the port and the seam are declarations only',
    rule: theSeamIsTypesOnly,
    refused: [['hooks/objects/cluster.ts', 'export const retries = 3;']],
    accepted: [['hooks/objects/cluster.ts', 'export interface Reader { get(): Promise<string> }\nexport type Kind = "a";']],
  },
  {
    reason: 'no barrels',
    rule: noBarrels,
    refused: [
      ['hooks/transactions/model/a.ts', "export * from './b.ts';"],
      ['hooks/transactions/model/b.ts', "export { c } from './c.ts';"],
      ['hooks/transactions/model/c.ts', "export type { D } from './d.ts';"],
      ['hooks/transactions/model/d.ts', "export {\n  e,\n  f,\n} from './e.ts';"],
    ],
    accepted: [['hooks/transactions/model/a.ts', 'export const from = { a: 1 };\nexport { from as b };']],
  },
  {
    reason: 'no default exports',
    rule: noDefaultExports,
    refused: [
      ['hooks/transactions/model/a.ts', 'export default function a() {}'],
      ['hooks/transactions/model/b.ts', 'const b = 1;\nexport { b as default };'],
    ],
    accepted: [['hooks/transactions/model/a.ts', '// export default\nexport const standard = 1;']],
  },
  {
    reason: 'no drawers for everything',
    rule: noJunkDrawers,
    refused: [
      ['hooks/utils/a.ts', ''],
      ['hooks/transactions/model/helpers.ts', ''],
      ['server/common.ts', ''],
      ['server/string-utils.ts', ''],
    ],
    accepted: [['hooks/transactions/model/utilisation.ts', '']],
  },
  {
    reason: 'files are short',
    rule: filesAreShort,
    refused: [['hooks/transactions/model/a.ts', 'x\n'.repeat(longestFile + 1)]],
    accepted: [['hooks/transactions/model/a.ts', 'x\n'.repeat(longestFile)]],
  },
];

function sourcesOf(files: readonly (readonly [path: string, text: string])[]): readonly Source[] {
  return files.map(([path, text]) => ({ path, text }));
}

/** Rules over one file at a time are tried on each; a cycle takes all of them. */
function triedOn(row: Row): readonly (readonly Source[])[] {
  const all = sourcesOf(row.refused);
  return row.rule === noCycles ? [all] : all.map((source) => [source]);
}

const sources = readSources('hooks', 'cli', 'server', 'schemas');

for (const row of rows) {
  t.test(row.reason, async (t) => {
    for (const refused of triedOn(row)) {
      t.ok(
        row.rule(refused).length > 0,
        `refuses ${refused.map(({ path, text }) => `${path}: ${text.slice(0, 80)}`).join(' + ')}`,
      );
    }
    t.same(row.rule(sourcesOf(row.accepted)), [], 'accepts what obeys it');
    t.same(row.rule(sources), [], 'the sources obey it');
  });
}

t.test('what the command line may import is what its decision lists, and what it needs', async (t) => {
  const decision = readFileSync('docs/decisions/0039-a-bundle-for-the-cli.md', 'utf8');
  const listed = [...decision.matchAll(/^\| `([^`]+)` +\| \S/gm)].map(([, name]) => name);
  t.same([...listed].sort(), [...seenByCli].sort());
  t.same(importedByCli(sources), seenByCli, 'none is needless');
});

const allWrites = [
  'createTransaction',
  'deleteTransaction',
  'createContentSecret',
  'deleteContentSecret',
  'ownContentSecret',
  'annotate',
  'userName',
  'createDryRun',
  'deleteDryRun',
];

t.test(
  'the command line writes Transactions, a content Secret, the owner of that, an annotation, and a dry run, and asks who the user is',
  async (t) => {
    const [writes] = sources.filter(({ path }) => path === 'cli/cluster/writes.ts');
    const functions = [...(writes?.text ?? '').matchAll(/^export (?:async )?function (\w+)/gm)].map(([, name]) => name);
    t.same(functions, allWrites);
    const sent = [...(writes?.text ?? '').matchAll(/transport\.request\(\{ method: '(\w+)'/g)].map(([, method]) => method);
    t.same(sent, ['POST', 'DELETE', 'POST', 'DELETE', 'PATCH', 'PATCH', 'POST', 'POST', 'DELETE'], 'one request in each');
  },
);

t.test('nothing grows beyond its ceiling', async (t) => {
  for (const ceiling of ceilings) {
    const size = sizeOf(ceiling);
    t.ok(size > 0, `${ceiling.name} is found`);
    t.equal(excessOf(ceiling, size), undefined, `${ceiling.name}: ${size} of ${ceiling.most} ${ceiling.of}`);
    t.match(excessOf(ceiling, ceiling.most + 1), `${ceiling.name}: expected at most ${ceiling.most}`);
  }
  const rows = ceilings.flatMap(({ folders }) => folders);
  t.same(
    globSync('hooks/*').filter((folder) => !rows.includes(folder)),
    [],
    'each hook has a row',
  );
});

t.test('the table of stages itself goes leftward', async (t) => {
  for (const [index, { name, sees }] of units.entries()) {
    const left = units.slice(0, index).map((unit) => unit.name);
    t.same(
      sees.filter((seen) => !left.includes(seen)),
      [],
      name,
    );
  }
});

t.test('the sources are found, and so are their imports', async (t) => {
  t.ok(sources.some(({ path }) => path === 'hooks/transactions/reconcile.ts'));
  t.ok(sources.some(({ path }) => path === 'server/kubernetes/cluster.ts'));
  for (const source of sources) {
    const stated = codeOf(source).match(/^(import|\} from)\b|\bimport\(/gm) ?? [];
    const opened = codeOf(source).match(/^import (type )?\{$/gm) ?? [];
    t.equal(importsOf(source).length, stated.length - opened.length, `imports of ${source.path}`);
  }
});
