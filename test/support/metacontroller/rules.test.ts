// What a loop does with the hook's answers. Each rule holds for the double and for the real Metacontroller alike.
import t, { type Test } from 'tap';
import { at } from '../../../hooks/objects/json.ts';
import type { Scripted } from './scripted-hook.ts';
import { loopKinds } from './scripted-hook.ts';
import { asItWas, type Stage, setStage, status } from './stage.ts';

for (const kind of loopKinds) {
  t.test(`answers, through the ${kind}`, { timeout: 180_000 }, async (t) => {
    const stage = await setStage(t, kind, { token: 'a-token', timeoutMilliseconds: 1000 });
    await t.test('every call carries the token and the form of a v2 call', async (t) => {
      const parent = await stage.parent('form', () => status('Pending', 1));
      const [call] = await parent.called(1);
      t.equal(call?.headers.authorization, 'Bearer a-token');
      t.match(call?.request, { children: {}, related: {}, finalizing: false, controller: { status: {} } });
      t.ok(at(call?.parent, 'metadata', 'finalizers'), 'the finalizer is there before the first call');
    });
    await t.test('the loop stores nothing of a useless answer, records an Event, and calls again', (t) => refusals(t, stage));
    await t.test('an answer without status removes the stored status', async (t) => {
      const parent = await stage.parent('wiped', (_call, number) => (number === 1 ? { body: { status: null } } : { body: {} }));
      const found = await parent.becomes('with a status', (object) => at(object, 'status') !== undefined);
      t.strictSame(found.status, { observedGeneration: 1 });
    });
    await t.test('a status is stored over whatever is there by then, and only the status', async (t) => {
      const parent = await stage.parent('overwritten', async (call, number) => {
        if (number > 1) return asItWas(call);
        await stage.client.patch(parent.path, { metadata: { annotations: { by: 'someone' } } });
        await stage.client.patch(`${parent.path}/status`, { status: { phase: 'Theirs', version: 1, more: true } });
        return status('Ours', 2);
      });
      const found = await parent.becomes('with our status', (object) => at(object, 'status', 'phase') === 'Ours');
      t.strictSame(found.status, { phase: 'Ours', version: 2, observedGeneration: 1 });
      t.equal(at(found, 'metadata', 'annotations', 'by'), 'someone');
    });
    await t.test('resyncAfterSeconds brings a call when nothing has changed, fractions too', async (t) => {
      const parent = await stage.parent('resynced', (call, number) =>
        number === 1 ? status('Pending', 1) : asItWas(call, { resyncAfterSeconds: 0.3 }),
      );
      const version = at(
        await parent.becomes('stored', (object) => at(object, 'status') !== undefined),
        'metadata',
        'resourceVersion',
      );
      const calls = await parent.called(6);
      const [fifth, sixth] = calls.slice(4).map((call) => call.at);
      t.ok((sixth ?? 0) - (fifth ?? 0) > 297, 'not before its time');
      t.equal(at(await parent.live(), 'metadata', 'resourceVersion'), version, 'an unchanged status is not written');
    });
    await t.test('429: nothing is stored; called again at once where Retry-After is no whole number', (t) => tooMany(t, stage));
    await t.test('a call that lasts too long is given up and made again, while the hook works on', async (t) => {
      let ended = 0;
      const parent = await stage.parent('slow', async (call, number) => {
        if (number > 1) return status('Second', 2);
        await new Promise((resolve) => call.signal.addEventListener('abort', resolve, { once: true }));
        ended = performance.now();
        return status('First', 1);
      });
      await parent.becomes('answered', (object) => at(object, 'status', 'phase') === 'Second');
      t.match(
        await parent.warned('http error'),
        /sync hook failed .* http error: Post ".*\/sync": .*(deadline|Client\.Timeout) exceeded/,
      );
      const [first, second] = await parent.called(2);
      // The timeout of 1 s starts before the call arrives here; under load that may take a while.
      t.ok((second?.at ?? 0) - (first?.at ?? 0) > 500, 'not before the timeout');
      t.ok(ended > 0, 'the hook saw the call given up');
    });
  });
}

async function refusals(t: Test, stage: Stage): Promise<void> {
  const good = { status: { phase: 'Bad', version: 1 }, children: [] };
  const rows: readonly { readonly name: string; readonly answer: Scripted; readonly warning: string }[] = [
    { name: 'unknown-field', answer: { body: { ...good, events: [] } }, warning: 'unknown field "events"' },
    { name: 'wrong-type', answer: { body: { ...good, resyncAfterSeconds: '1' } }, warning: "can't unmarshal webhookResponse" },
    { name: 'status-list', answer: { body: { status: [] } }, warning: "can't unmarshal webhookResponse" },
    { name: 'no-json', answer: { body: '<html>' }, warning: "can't unmarshal webhookResponse" },
    { name: 'empty', answer: { body: '' }, warning: "can't unmarshal webhookResponse" },
    { name: 'created', answer: { code: 201, body: good }, warning: 'unsupported status code: 201 body: {"status"' },
    { name: 'unavailable', answer: { code: 503, body: 'later' }, warning: 'unsupported status code: 503 body: later' },
    { name: 'refused', answer: { body: { status: { phase: 1 } } }, warning: "can't update status for Transaction" },
  ];
  for (const { name, answer, warning } of rows) {
    const parent = await stage.parent(name, (_call, number) => (number === 1 ? answer : status('Good', 2)));
    const found = await parent.becomes('answered', (object) => at(object, 'status') !== undefined);
    t.equal(at(found, 'status', 'phase'), 'Good', `${name}: nothing of the first answer is stored`);
    t.match(await parent.warned(warning), /^Sync error: /, `${name}: ${warning}`);
  }
}

async function tooMany(t: Test, stage: Stage): Promise<void> {
  for (const [name, retryAfter] of [
    ['zero', '0'],
    ['garbled', 'soon'],
    ['fraction', '1.5'],
  ] as const) {
    const parent = await stage.parent(name, (_call, number) =>
      number === 1 ? { code: 429, headers: { 'retry-after': retryAfter }, body: {} } : status('Good', 2),
    );
    const [first, second] = await parent.called(2);
    t.ok((second?.at ?? 0) - (first?.at ?? 0) < 1000, `Retry-After: ${retryAfter}`);
    await parent.becomes('answered', (object) => at(object, 'status', 'phase') === 'Good');
    t.same(await parent.warnings(), [], 'without a warning');
  }
}
