// What others do between the composition of a rollback and its locks. Without that, no undo is evaluated again; with it, the rollback is
// composed again, and ends as if they had done it before.
import t, { type Test } from 'tap';
import type { Cluster } from '../../../hooks/objects/cluster.ts';
import { at, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must } from '../../support/client.ts';
import { type Engines, openEngines } from '../../support/engine.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { type Stepped, stepTo, stepToEnd } from '../../support/stepping.ts';

interface Line {
  readonly stage: Stage;
  /** Its object, and its field manager. */
  readonly name: string;
}

async function release({ stage, name }: Line, version: string, manager = name): Promise<void> {
  const content = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { v: version } };
  const transaction = `${name}-${manager === name ? 'v' : 'other-'}${version}`;
  const spec = { fieldManager: manager, ...(manager === name ? {} : { takeOver: [name] }) };
  await stage.transaction(transaction, [{ type: 'Apply', content }], { spec });
  const { phase, status } = await stepToEnd(stage, transaction);
  if (phase !== 'Committed') throw new Error(`${transaction}: ${String(status.message)}`);
}

const pathOf = ({ stage, name }: Line): string => stage.path(`configmaps/${name}`);

async function edits(line: Line, data: JsonObject): Promise<void> {
  must(await line.stage.client.patch(pathOf(line), { data }, 'merge', { fieldManager: 'kubectl-edit' }));
}

async function recreates({ stage, ...line }: Line): Promise<void> {
  const path = pathOf({ stage, ...line });
  const {
    managedFields: _own,
    uid: _uid,
    resourceVersion: _version,
    ...metadata
  } = must(await stage.client.get(path)).metadata as JsonObject;
  must(await stage.client.delete(path));
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { v: '3' } };
  must(await stage.client.create(stage.path('configmaps'), object, { fieldManager: 'kubectl-create' }));
}

const finalizer = 'test.janus.io/stay';

async function finalizes(line: Line): Promise<void> {
  const metadata = { finalizers: [finalizer] };
  must(await line.stage.client.patch(pathOf(line), { metadata }, 'merge', { fieldManager: 'their-operator' }));
}

/** Counts the reads of that object. */
function counting(name: string): { readonly wrap: (cluster: Cluster) => Cluster; readonly reads: () => number } {
  let count = 0;
  const wrap = (cluster: Cluster): Cluster => ({
    ...cluster,
    get: (location, identity) => {
      count += location.name === name ? 1 : 0;
      return cluster.get(location, identity);
    },
  });
  return { wrap, reads: () => count };
}

interface Case {
  readonly what: string;
  /** What others have done before. */
  readonly before?: (line: Line) => Promise<void>;
  /** What others do once the rollback is composed. */
  readonly meanwhile: (line: Line) => Promise<void>;
  readonly phase: string;
  readonly message?: RegExp;
  readonly data: JsonObject;
  readonly reads?: number;
}

const cases: readonly Case[] = [
  // Once to compose it, and once under the lock.
  { what: 'nothing', meanwhile: async () => undefined, phase: 'Committed', data: { v: '1' }, reads: 2 },
  {
    what: 'an edit of another field',
    meanwhile: (line) => edits(line, { theirs: 'yes' }),
    phase: 'Committed',
    data: { v: '1', theirs: 'yes' },
  },
  {
    what: 'an edit of a released field',
    meanwhile: (line) => edits(line, { v: 'hotfix' }),
    phase: 'Failed',
    message: /data\.v.*kubectl-edit.*spec\.rollback\.keep/,
    data: { v: 'hotfix' },
  },
  {
    what: 'a Transaction of another application',
    meanwhile: (line) => release(line, '9', `${line.name}-billing`),
    phase: 'Failed',
    message: /Transaction .*-other-9/,
    data: { v: '9' },
  },
  {
    what: 'the object is deleted, and created again as it was',
    meanwhile: recreates,
    phase: 'Failed',
    message: /deleted and recreated by someone else/,
    data: { v: '3' },
  },
  {
    what: 'the object is being deleted',
    before: finalizes,
    meanwhile: async (line) => void must(await line.stage.client.delete(pathOf(line))),
    phase: 'RolledBack',
    message: /rolled back 0 changes.*is being deleted/,
    data: { v: '3' },
  },
  { what: 'one more release', meanwhile: (line) => release(line, '4'), phase: 'Committed', data: { v: '1' } },
];

async function composeThenGoOn(line: Line, back: Stage, { before, meanwhile }: Case): Promise<Stepped> {
  const { stage, name } = line;
  for (const version of ['1', '2', '3']) await release(line, version);
  await before?.(line);
  const rollback = { to: `${name}-v1` };
  await stage.transaction(`${name}-back`, [], { spec: { fieldManager: name, changes: undefined as never, rollback } });
  await stepTo(back, `${name}-back`, 'the composition', ({ status }) => at(status, 'rollback') !== undefined);
  await meanwhile(line);
  return stepToEnd(back, `${name}-back`);
}

async function meets(t: Test, stage: Stage, engines: Engines, one: Case): Promise<void> {
  const line = { stage: engines.start(), name: `line-${cases.indexOf(one)}` };
  const { wrap, reads } = counting(line.name);
  const { phase, status } = await composeThenGoOn(line, engines.start({ wrap }), one);
  t.equal(phase, one.phase, String(textAt(status, 'message')));
  if (one.message !== undefined) t.match(textAt(status, 'message') ?? '', one.message);
  t.same(at(must(await stage.client.get(pathOf(line))), 'data'), one.data);
  if (one.reads !== undefined) t.equal(reads(), one.reads);
  await stage.client.patch(pathOf(line), { metadata: { finalizers: null } });
}

t.test('between the composition and the locks', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const engines = await openEngines(t, stage, { callBudget: 5_000 });
  t.jobs = 3;
  await Promise.all(cases.map((one) => t.test(one.what, (t) => meets(t, stage, engines, one))));
  t.same(await stage.leases(), []);
});
