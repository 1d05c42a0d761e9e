// The request is only a trigger: whatever it says, the engine does what the live Transaction asks for. Requests of many kinds that
// Metacontroller does not send: each is answered as its kind is, none makes the hook fail, none makes it write.
//
// `JANUS_FUZZ_BODIES=10000 npm test -- test/threats/bodies.test.ts` sends ten thousand; JANUS_TEST_SEED other ones.
import t, { type Test } from 'tap';
import { Client } from 'undici';
import type { Cluster } from '../../hooks/objects/cluster.ts';
import { at, type Json, type JsonObject, parseJson, textAt } from '../../hooks/objects/json.ts';
import { callHeaders } from '../support/hook-token.ts';
import { inAllOnly } from '../support/selection.ts';
import { callHook, type Stage, startStage } from '../support/stage.ts';
import { stepToEnd } from '../support/stepping.ts';
import { change, createConfigMaps } from '../support/targets.ts';
import { forged } from './bodies/forged.ts';
import { nobody } from './bodies/nobody.ts';
import { type BadBody, requestsAbout, type Sent } from './bodies/sent.ts';
import { unreadable } from './bodies/unreadable.ts';
import { each, sample, seed } from './chance.ts';

const wanted = Number(process.env.JANUS_FUZZ_BODIES ?? (inAllOnly.skip === false ? 1_500 : 300));

/** Every call of the port, in words. */
function listening(calls: string[]): (cluster: Cluster) => Cluster {
  return (cluster) => {
    const named = Object.entries(cluster).map(([name, member]) => [
      name,
      typeof member !== 'function'
        ? member
        : (...args: readonly unknown[]) => {
            calls.push(`${name} ${JSON.stringify(args)}`);
            return (member as (...all: readonly unknown[]) => unknown)(...args);
          },
    ]);
    return Object.fromEntries(named) as Cluster;
  };
}

interface Answered {
  readonly code: number;
  readonly text: string;
}

// A client of one's own, since others put a path in order before they send it.
async function send(hook: Client, { method = 'POST', path = '/sync', headers = {}, body }: Sent): Promise<Answered> {
  const answer = await hook.request({ path, method, headers: { ...callHeaders, ...headers }, body });
  return { code: answer.statusCode, text: await answer.body.text() };
}

/** Three at rest, each with another end. */
async function startWorld(t: Test, calls: string[]): Promise<{ readonly stage: Stage; readonly parents: readonly JsonObject[] }> {
  const stage = await startStage(t, { withoutLoop: true, wrap: listening(calls) });
  await createConfigMaps(stage, ['one', 'two']);
  const names = ['committed', 'undone', 'failed'];
  await stage.transaction('committed', [change('Patch', 'one', { data: { color: 'green' } })]);
  await stage.transaction('undone', [change('Patch', 'two', { data: { color: 'red' } })]);
  await stage.transaction('failed', [change('Create', 'one', { data: { color: 'red' } })]);
  for (const name of names) await stepToEnd(stage, name);
  await stage.annotate('undone', { 'tx.janus.io/request-rollback': 'yes' });
  for (const name of names) await stepToEnd(stage, name);
  return { stage, parents: await Promise.all(names.map((name) => stage.read(name))) };
}

/** What a true request about each Transaction is answered, and which calls it makes; by uid. */
async function truths(stage: Stage, parents: readonly JsonObject[], calls: string[]): Promise<ReadonlyMap<string, Truth>> {
  const found = new Map<string, Truth>();
  for (const parent of parents) {
    calls.length = 0;
    const { body } = await callHook(stage.hookUrl, '/sync', { parent, children: {}, finalizing: false });
    found.set(textAt(parent, 'metadata', 'uid') ?? '', { status: at(body, 'status') ?? null, calls: [...calls] });
  }
  return found;
}

interface Truth {
  readonly status: Json;
  readonly calls: readonly string[];
}

interface Judged {
  readonly kind: BadBody;
  readonly sent: Sent;
  readonly answer: Answered;
  readonly calls: readonly string[];
}

/** What is wrong with an answer; empty when nothing is. */
function complaint({ kind, sent, answer, calls }: Judged, known: ReadonlyMap<string, Truth>): string {
  const about = `${kind.name}: ${String(sent.body).slice(0, 300)}`;
  if (answer.code !== kind.code) return `answered ${answer.code}, expected ${kind.code}: ${about}: ${answer.text}`;
  if (kind.answer === undefined) return calls.length === 0 ? '' : `${calls.length} calls were made: ${about}`;
  const { expected, other } = compared({ kind, sent, answer, calls }, known);
  const status = at(parseJson(answer.text), 'status');
  if (JSON.stringify(status) !== JSON.stringify(expected)) return `another status: ${about}: ${answer.text}`;
  return other.length === 0 ? '' : `other calls than for a true request: ${about}: ${other.join('\n')}`;
}

interface Compared {
  readonly expected: unknown;
  /** The calls that a true request would not have made. */
  readonly other: readonly string[];
}

function compared({ kind, sent, calls }: Judged, known: ReadonlyMap<string, Truth>): Compared {
  const parent = at(parseJson(String(sent.body)), 'parent');
  if (kind.answer === 'own') return { expected: at(parent, 'status'), other: calls.filter((call) => !call.startsWith('get ')) };
  const truth = known.get(textAt(parent, 'metadata', 'uid') ?? '');
  return { expected: truth?.status, other: otherCalls(calls, truth) };
}

/** All calls, where they are not those of a true request. */
function otherCalls(calls: readonly string[], truth: Truth | undefined): readonly string[] {
  const right = truth?.calls ?? [];
  if (JSON.stringify(calls) === JSON.stringify(right)) return [];
  return calls.length === 0 ? ['none'] : calls;
}

t.test('the engine answers requests that Metacontroller does not send', async (t) => {
  const calls: string[] = [];
  const { stage, parents } = await startWorld(t, calls);
  const hook = new Client(stage.hookUrl);
  t.teardown(() => hook.close());
  await truths(stage, parents, calls);
  const known = await truths(stage, parents, calls);
  t.notOk(
    [...known.values()].some((truth) => truth.calls.some((call) => call.startsWith('send '))),
    'nothing is left to do',
  );
  const requests = requestsAbout(parents);
  const kinds = [...unreadable(requests), ...nobody(requests), ...forged(requests)];
  t.ok(kinds.length >= 20, `${kinds.length} kinds, seed ${seed}`);
  const share = Math.ceil(wanted / kinds.filter(({ most }) => most === undefined).length);
  let made = 0;
  for (const kind of kinds) {
    await t.test(`${kind.name}: ${kind.code}`, async (t) => {
      const all = sample(kind.sent, kind.name, kind.most ?? share);
      // One at a time: whose calls they are is to be known.
      await each(all, 1, async (sent) => {
        calls.length = 0;
        const wrong = complaint({ kind, sent, answer: await send(hook, sent), calls: [...calls] }, known);
        if (wrong !== '') t.fail(wrong.slice(0, 1_000));
      });
      made += all.length;
      t.pass(`${all.length} of them`);
    });
  }
  t.ok(made >= wanted, `${made} requests`);
  t.equal((await send(hook, { method: 'GET', path: '/healthz', body: '' })).code, 200, 'the hook lives');
  t.same(
    await Promise.all(parents.map((parent) => stage.read(textAt(parent, 'metadata', 'name') ?? ''))),
    parents,
    'nothing was written',
  );
  t.equal(({} as Record<string, unknown>).x, undefined, 'no prototype has changed');
});
