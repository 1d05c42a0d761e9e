// Follows recorded states of a Transaction, as the command line would, at the terminal that runs this program. It shows the next state when
// `n` is typed, and sets the title of the terminal to what it has shown.
//
// `replay.ts FILE...`: JSON lists of `{ elapsed, object }`, with `elapsed` in ms since the operation began. Each has an empty screen.
import { readFileSync } from 'node:fs';
import process from 'node:process';
import type { Session } from '../../cli/cluster/session.ts';
import { watch } from '../../cli/run/watching.ts';
import { styleFor } from '../../cli/show/style.ts';
import type { JsonObject } from '../../hooks/objects/json.ts';
import { beginning } from './followed.ts';

interface Recorded {
  readonly elapsed: number;
  readonly object: JsonObject;
}

const { stdin, stdout, stderr, env } = process;
const interrupted = new AbortController().signal;
let next = (): void => undefined;
stdin.on('data', (text: string) => {
  if (text.includes('n')) next();
});

/** Resolves once `n` is typed. */
async function shown(what: string): Promise<void> {
  const typed = new Promise<void>((resolve) => {
    next = resolve;
  });
  stdout.write(`\u001b]0;${what}\u0007`);
  await typed;
}

async function replay(states: readonly Recorded[], number: number): Promise<void> {
  const [first] = states;
  if (first === undefined) throw new Error('there is no state to replay');
  let { elapsed } = first;
  async function* events() {
    for (const [index, state] of states.entries()) {
      elapsed = state.elapsed;
      if (index > 0) yield { type: 'MODIFIED', object: state.object };
      await shown(`file ${number}, state ${index + 1}`);
    }
  }
  const list = { kind: 'ok', body: { metadata: { resourceVersion: '1' }, items: [first.object] } };
  const session = { cluster: { transport: { request: async () => list } }, watcher: { events } } as unknown as Session;
  stdout.write('\u001bc');
  const code = await watch({
    ...{ session, wanted: { namespace: 'month', name: 'svc-1' }, end: 'Committed', timeout: undefined },
    io: { ...{ stdin, stdout, stderr, env }, folder: '.', program: 'janus', interrupted, signal: () => undefined },
    style: styleFor({ isTerminal: true, env, color: undefined }),
    clock: { now: () => elapsed, date: () => beginning + first.elapsed },
  });
  stdin.setRawMode(true).resume();
  await shown(`file ${number}, exit code ${code}`);
}

for (const [index, file] of process.argv.slice(2).entries())
  await replay(JSON.parse(readFileSync(file, 'utf8')) as readonly Recorded[], index + 1);
process.exit(0);
