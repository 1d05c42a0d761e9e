// A person who follows a Transaction at a real pseudo-terminal sees its screens: recorded states, twice in the middle and after the last one.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import t, { type Test } from 'tap';
import type { Io } from '../../cli/io.ts';
import { openPrinter } from '../../cli/run/printer.ts';
import { endLines } from '../../cli/show/end.ts';
import { widthOf } from '../../cli/show/style.ts';
import { treeOf } from '../../cli/show/tree.ts';
import { type TransactionView, viewOf } from '../../cli/show/view.ts';
import { documentedScreen, writeDocumentedScreen } from '../support/documented-screen.ts';
import { followedOf } from '../support/followed.ts';
import { needsScript, openPty, type Pty } from '../support/pty.ts';
import { share } from '../support/selection.ts';

const program = join(import.meta.dirname, '..', 'support', 'replay.ts');
const rows = 22;
/** ms since the operation began, of each state. */
const times = [5_000, 28_000, 34_000] as const;
const wide = 'マニフェストが見つかりません。'.repeat(9);

interface Terminal {
  readonly columns: number;
  readonly unicode: boolean;
  readonly colors: boolean;
}

const terminals: readonly Terminal[] = [80, 120, 200].flatMap((columns) =>
  [true, false].flatMap((unicode) => [true, false].map((colors) => ({ columns, unicode, colors }))),
);
const few = terminals.filter(
  ({ columns, unicode, colors }) => (columns === 80 && !unicode && !colors) || (columns === 120 && unicode && colors),
);
const releases = [{ changes: 1 }, { changes: 26 }, { changes: 500 }, { changes: 26, message: wide }];

for (const terminal of share(1, 2) === 1 ? few : terminals) {
  const { columns, unicode, colors } = terminal;
  const name = `${columns} columns, ${unicode ? '' : 'no '}UTF-8, ${colors ? '' : 'no '}colours`;
  t.test(`a screen shows what failed, and the sentences at the end: ${name}`, needsScript, async (t) => {
    const folder = t.testdir();
    const files = releases.map((release, index) => {
      const path = join(folder, `${index}.json`);
      writeFileSync(path, JSON.stringify(followedOf(release).map((object, state) => ({ elapsed: times[state], object }))));
      return path;
    });
    const env = { LANG: unicode ? 'C.UTF-8' : 'C', ...(colors ? {} : { NO_COLOR: '1' }) };
    const pty = openPty(t, { words: [process.execPath, program, ...files], env, columns, rows });
    for (const [index, release] of releases.entries()) {
      const views = followedOf(release).map(viewOf) as [TransactionView, TransactionView, TransactionView];
      const isDocumented = columns === 120 && unicode && colors && index === 1;
      await t.test(`${release.changes} changes`, (t) =>
        isShown(t, { pty, terminal, views, file: `file ${index + 1}`, isDocumented }),
      );
    }
    t.equal(await pty.finished, 0);
  });
}

t.test('a terminal that becomes narrower, then wider, shows one tree without remains', needsScript, async (t) => {
  const file = join(t.testdir(), 'states.json');
  const states = followedOf({ changes: 26 });
  writeFileSync(file, JSON.stringify(states.map((object, state) => ({ elapsed: times[state], object }))));
  const words = [process.execPath, program, file];
  const pty = openPty(t, { words, env: { LANG: 'C.UTF-8', NO_COLOR: '1' }, columns: 120, rows });
  const [view, , last] = states.map(viewOf) as [TransactionView, TransactionView, TransactionView];
  const style = { colors: false, unicode: true };
  const keys = '[q] leave, it goes on   [a] abort and undo';
  const tree = (columns: number) =>
    treeOf({ view, elapsed: times[0], isHeldUp: false }, { columns, rows: rows - 2 }, style).map((line) => line.trimEnd());
  await pty.titled('file 1, state 1');
  t.same(pty.screen(), [...tree(120), keys]);
  for (const columns of [61, 42, 100, 50]) {
    await pty.resize(columns);
    t.same(pty.lines(), [...tree(columns), keys], `${columns} columns`);
  }
  pty.type('n');
  await pty.titled('file 1, state 2');
  pty.type('n');
  await pty.titled('file 1, exit code 3');
  const end = endLines(last, '0:34', { program: 'janus', isEnd: true, wanted: 'Committed', columns: 50 }, style);
  t.same(
    pty.lines().slice(-end.length),
    end.map((line) => line.trimEnd()),
  );
  t.equal(pty.lines().filter((line) => line.startsWith('svc-1')).length, 1, 'the tree once');
});

t.test('a pipe gets a line for each change whose state changes, and three for the Transaction with the cause once', async (t) => {
  const stdout = new PassThrough();
  const io = { stdout, stderr: new PassThrough() } as unknown as Io;
  let now = 0;
  const clock = { now: () => now, date: () => now };
  const printer = openPrinter({ io, style: { colors: false, unicode: true }, clock, isWritten: true, isNews: true });
  const views = followedOf({ changes: 26 }).map(viewOf);
  for (const [index, view] of views.entries()) {
    now = times[index] ?? 0;
    printer.show(view);
    printer.show(view);
  }
  printer.close(0);
  const lines = String(stdout.read()).trimEnd().split('\n');
  const ofChange = (name: string) => lines.filter((line) => line.includes(` ${name} `));
  t.same(ofChange('Service svc-0'), ['5.00s Service svc-0 created, ready', '34.00s Service svc-0 deleted again']);
  t.same(ofChange('Deployment webx'), [
    '5.00s Deployment webx created, not ready: 0 of 1 replicas are available',
    '28.00s Deployment webx deleted again, failed: GateTimeout',
  ]);
  t.same(ofChange('svc-1'), [
    '5.00s Service svc-1 created, ready',
    '28.00s svc-1 rolling back (GateTimeout)',
    '34.00s Service svc-1 deleted again',
  ]);
  t.equal(lines.length, 2 * 26 + 1, 'the end is not in it');
  const last = views.at(-1);
  const ending = { program: 'janus', isEnd: true, wanted: 'Committed', columns: Number.POSITIVE_INFINITY } as const;
  const end = last === undefined ? [] : endLines(last, '0:34', ending, { colors: false, unicode: true });
  t.equal(end.length, 3, 'each sentence on a line of its own');
  t.ok(end[0]?.includes(last?.cause ?? '-'));
});

interface Replayed {
  readonly pty: Pty;
  readonly terminal: Terminal;
  readonly views: readonly [TransactionView, TransactionView, TransactionView];
  readonly file: string;
  readonly isDocumented: boolean;
}

async function isShown(t: Test, { pty, terminal, views, file, isDocumented }: Replayed): Promise<void> {
  const { columns, unicode, colors } = terminal;
  const style = { colors: false, unicode };
  const tree = (state: 0 | 1 | 2, below: number): readonly string[] =>
    treeOf({ view: views[state], elapsed: times[state], isHeldUp: false }, { columns, rows: rows - 1 - below }, style);

  await pty.titled(`${file}, state 1`);
  const open = pty.lines();
  t.same(open, [...tree(0, 1), '[q] leave, it goes on   [a] abort and undo']);
  t.match(open[1], /^ [⧗*] Deployment webx +created +not ready: 0 of 1 replicas are available$/);
  pty.type('n');

  await pty.titled(`${file}, state 2`);
  t.same(pty.lines(), [...tree(1, 1), '[q] leave, it goes on']);
  t.match(pty.lines()[1], /^ [✗x] Deployment webx +deleted again +failed: GateTimeout/);
  pty.type('n');

  await pty.titled(`${file}, exit code 3`);
  const end = endLines(views[2], '0:34', { program: 'janus', isEnd: true, wanted: 'Committed', columns }, style);
  const shown = pty.lines();
  t.same(shown, [...tree(2, end.length), ...end], 'the tree once, and the sentences');
  t.ok(shown.length < rows && shown.every((line) => widthOf(line) <= columns), 'all of it is on the screen');
  const text = end.map((line) => line.slice(2)).join(' ');
  t.ok(text.replaceAll(' ', '').includes(views[2].cause.replaceAll(' ', '')), 'the whole cause');
  t.match(text, /(1 object is|(26|500) objects are) as before \((1|26|500) deleted again\)\. Nothing to clean up\./);
  t.equal(pty.hasColors(), colors);
  if (isDocumented) {
    const documented = [...open, '…', ...shown];
    if (process.env.JANUS_WRITE_DOCS === '1') writeDocumentedScreen(documented);
    t.same(documentedScreen(), documented, 'JANUS_WRITE_DOCS=1 node test/cli/screens.test.ts writes docs/cli.md');
  }
  pty.type('n');
}
