// Exit codes of what follows a Transaction, each by the packed program: every way in which it can end, no end within --timeout, Ctrl-C.
// Metacontroller is played one call at a time, so that nothing ends by itself. Those of plan and diff are in test/plan.
import t, { type Test } from 'tap';
import { at, isList, textAt } from '../../hooks/objects/json.ts';
import { openCli } from '../support/cli.ts';
import { must, waitFor } from '../support/client.ts';
import { account, startStage } from '../support/stage.ts';
import { stepTo, stepToEnd, stepUntil } from '../support/stepping.ts';
import { change, createConfigMaps } from '../support/targets.ts';

const stage = await startStage(t, { withoutLoop: true });
const cli = await openCli(t, stage.kubeconfig);
const where = ['-n', stage.namespace];
const rollback = { 'tx.janus.io/request-rollback': 'by-test' };

/** A file with a Transaction that makes two ConfigMaps red. */
function fileOf(name: string): string {
  const changes = [name, `${name}-2`].map((target) => change('Patch', target, { data: { color: 'red' } }));
  const metadata = { name, namespace: stage.namespace };
  const spec = { serviceAccountName: account, changes };
  return cli.write(`${name}.json`, JSON.stringify({ apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction', metadata, spec }));
}

const commands = {
  apply: (name: string) => ['apply', '-f', fileOf(name), '--wait'],
  status: (name: string) => ['status', name, ...where, '--watch'],
  undo: (name: string) => ['undo', name, ...where, '--yes', '--wait'],
  partial: (name: string) => ['undo', name, ...where, '--yes', '--wait', '--partial'],
  abort: (name: string) => ['abort', name, ...where, '--yes', '--wait'],
  retry: (name: string) => ['retry', name, ...where, '--yes', '--wait'],
};
type Following = keyof typeof commands;

const written = /(created|requested)$/m;

/** Starts it; once it has written, `happen` lets the Transaction go on. Returns its exit code. */
async function codeOf(command: Following, name: string, happen: () => Promise<unknown>): Promise<number | null> {
  const running = cli.start(commands[command](name));
  await waitFor(() => written.test(running.out()), `${command} ${name} to write`);
  await happen();
  return (await running.finished).code;
}

const setColor = async (name: string, color: string) =>
  must(await stage.client.patch(stage.path(`configmaps/${name}`), { data: { color } }));

/** Half of it is applied, and nothing more happens. */
const half = (name: string) =>
  stepTo(stage, name, 'one change to be applied', ({ status }) => {
    const items = at(status, 'items');
    return isList(items) && textAt(items[0], 'state') === 'Applied';
  });

/** Its rollback, to the end. */
async function undone(name: string): Promise<void> {
  await stepUntil(stage, name, 'RollingBack');
  await stepToEnd(stage, name);
}

/** Its undo, refused. */
const answered = (name: string) =>
  stepTo(stage, name, 'the refusal', ({ status }) => textAt(status, 'undo', 'reason') === 'UndoRefused');

/** Half applied, asked to roll back; with `color`, somebody else has changed the first object meanwhile. */
async function aborted(name: string, color?: string): Promise<void> {
  await half(name);
  if (color !== undefined) await setColor(name, color);
  await stage.annotate(name, rollback);
  await undone(name);
}

async function existing(...names: readonly string[]): Promise<void> {
  await createConfigMaps(
    stage,
    names.flatMap((name) => [name, `${name}-2`]),
  );
}

/** Created, and left alone. */
async function pending(name: string): Promise<void> {
  await existing(name);
  t.equal((await cli.run(['apply', '-f', fileOf(name)])).code, 0);
}

/** 5 and 130: no call continues the Transaction. */
async function endless(t: Test, command: Following, name: (use: string) => string): Promise<void> {
  const timed = await cli.run([...commands[command](name('timed')), '--timeout', '200ms']);
  t.equal(timed.code, 5, '--timeout');
  t.match(timed.out + timed.err, /it continues\.|The request stays\.|The command could not read the Transaction in that time\./);
  const running = cli.start(commands[command](name('stopped')));
  await waitFor(() => (command === 'status' ? / pending: / : written).test(running.out()), 'it to begin');
  running.process.kill('SIGINT');
  const last = ['apply', 'status'].includes(command) ? /it continues\./ : /has not begun the undo .* The request stays\./;
  t.match(await running.finished, { code: 130, out: last }, 'Ctrl-C');
}

t.test('apply --wait ends with the documented exit codes', async (t) => {
  await existing('good', 'back', 'left', 'timed', 'stopped');
  t.equal(await codeOf('apply', 'good', () => stepToEnd(stage, 'good')), 0, 'Committed');
  t.equal(await codeOf('apply', 'refused', () => stepToEnd(stage, 'refused')), 2, 'nothing was applied');
  t.equal(await codeOf('apply', 'back', () => aborted('back')), 3, 'RolledBack');
  t.equal(await codeOf('apply', 'left', () => aborted('left', 'odd')), 4, 'something is left');
  await endless(t, 'apply', (use) => use);
  t.match(await cli.run(['apply', '-f', fileOf('No_Name'), '--wait']), { code: 1, out: '' }, 'refused by admission');
});

t.test('status --watch ends with the documented exit codes', async (t) => {
  for (const [name, code] of [
    ['good', 0],
    ['refused', 2],
    ['back', 3],
    ['left', 4],
    ['nobody', 1],
  ] as const)
    t.equal((await cli.run(commands.status(name))).code, code, name);
  await endless(t, 'status', () => 'timed');
});

t.test('undo --wait ends with the documented exit codes', async (t) => {
  await pending('meddled');
  await stepToEnd(stage, 'meddled');
  await endless(t, 'undo', () => 'meddled');
  await setColor('meddled', 'odd');
  t.equal(await codeOf('undo', 'meddled', () => answered('meddled')), 3, 'refused');
  t.equal(await codeOf('partial', 'meddled', () => undone('meddled')), 4, 'something is left');
  t.equal(await codeOf('undo', 'good', () => undone('good')), 0, 'RolledBack');
  t.equal((await cli.run(commands.undo('good'))).code, 1, 'it cannot act');
});

t.test('retry --wait ends with the documented exit codes', async (t) => {
  await endless(t, 'retry', () => 'left');
  t.equal(await codeOf('retry', 'left', () => answered('left')), 3, 'refused, and left as before');
  await setColor('left', 'blue');
  t.equal(await codeOf('retry', 'left', () => undone('left')), 0, 'RolledBack');
  t.equal((await cli.run(commands.retry('left'))).code, 1, 'it cannot act');
});

t.test('abort --wait ends with the documented exit codes', async (t) => {
  await pending('half');
  await half('half');
  await endless(t, 'abort', () => 'half');
  await setColor('half', 'odd');
  t.equal(await codeOf('abort', 'half', () => undone('half')), 4, 'something is left');
  await half('timed');
  t.equal(await codeOf('abort', 'timed', () => undone('timed')), 0, 'RolledBack');
  await pending('early');
  t.equal(await codeOf('abort', 'early', () => stepToEnd(stage, 'early')), 2, 'nothing was applied');
  t.equal((await cli.run(commands.abort('early'))).code, 1, 'it cannot act');
});
