// Locks live by the API server's clock. A machine whose own clock is ten minutes off neither robs others nor is robbed.
//
// This process has that clock: `Date.now` and `new Date()` are ten minutes off, the API server's are not.
import t, { type Test } from 'tap';
import { type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must } from '../../support/client.ts';
import { openEngines } from '../../support/engine.ts';
import { engineNamespace } from '../../support/install.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { step, stepToEnd, stepUntil } from '../../support/stepping.ts';
import { change, createConfigMaps } from '../../support/targets.ts';

const minutes = 60_000;
const green = { data: { color: 'green' } };
const leases = `/apis/coordination.k8s.io/v1/namespaces/${engineNamespace}/leases`;

const TrueDate = Date;

/** Puts the clock of this process off. */
function putClockOff(t: Test, milliseconds: number): void {
  const now = (): number => TrueDate.now() + milliseconds;
  class WrongDate extends TrueDate {
    constructor(...parts: readonly unknown[]) {
      super(...((parts.length === 0 ? [now()] : parts) as [number]));
    }
    static override now(): number {
      return now();
    }
  }
  globalThis.Date = WrongDate as DateConstructor;
  t.teardown(() => {
    globalThis.Date = TrueDate;
  });
}

async function serverTime({ client }: Stage): Promise<number> {
  return TrueDate.parse(String((await client.get('/version')).headers.date));
}

async function leaseOf(stage: Stage, target: string): Promise<JsonObject> {
  const [name = ''] = (await stage.leases()).filter((lease) => lease.includes(`-${target}-`));
  return must(await stage.client.get(`${leases}/${name}`));
}

/** Rewrites when the lock was last renewed, by the server's clock. */
async function renewedBefore(stage: Stage, target: string, milliseconds: number): Promise<void> {
  const renewTime = new TrueDate((await serverTime(stage)) - milliseconds).toISOString().replace('Z', '000Z');
  const path = `${leases}/${textAt(await leaseOf(stage, target), 'metadata', 'name')}`;
  must(await stage.client.patch(path, { spec: { renewTime } }));
}

t.test('the engine works although the clock of its process is off', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const engines = await openEngines(t, stage);
  for (const [title, offset] of [
    ['ten minutes ahead', 10 * minutes],
    ['ten minutes behind', -10 * minutes],
  ] as const)
    await t.test(title, async (t) => {
      const name = (text: string): string => `${text}-${offset > 0 ? 'ahead' : 'behind'}`;
      putClockOff(t, offset);
      const engine = engines.start();
      await createConfigMaps(stage, [name('a'), name('b')]);

      await t.test('the engine writes the time of the API server', async (t) => {
        await stage.transaction(name('first'), [change('Patch', name('a'), green)], { spec: { lockTimeout: '5m' } });
        const { status } = await stepUntil(engine, name('first'), 'Preparing');
        const now = await serverTime(stage);
        const times = [
          textAt(await leaseOf(stage, name('a')), 'spec', 'renewTime'),
          textAt(await leaseOf(stage, name('a')), 'spec', 'acquireTime'),
          textAt(status, 'startTime'),
        ];
        for (const time of times) t.ok(Math.abs(TrueDate.parse(time ?? '') - now) < minutes, `${time} is the server's time`);
      });

      await t.test('the engine does not take a lock that has time left', async (t) => {
        await renewedBefore(stage, name('a'), 4 * minutes);
        await stage.transaction(name('second'), [change('Patch', name('a'), { data: { other: 'yes' } })]);
        const { status, phase } = await step(engine, name('second'));
        t.equal(phase, 'Pending');
        t.match(textAt(status, 'message'), /is locked by Transaction/);
      });

      await t.test('the engine takes a lock that has expired', async (t) => {
        await renewedBefore(stage, name('a'), 6 * minutes);
        await stepUntil(engine, name('second'), 'Preparing');
        t.match(textAt(await leaseOf(stage, name('a')), 'spec', 'holderIdentity'), new RegExp(`/${name('second')}/`));
        t.match((await stepToEnd(engine, name('second'))).status, { phase: 'Committed' });
      });

      await t.test('the engine measures spec.timeout by the time of the API server too', async (t) => {
        await stage.transaction(name('third'), [change('Patch', name('b'), green)], { spec: { timeout: '5m' } });
        await stepUntil(engine, name('third'), 'Prepared');
        t.match((await stepToEnd(engine, name('third'))).status, { phase: 'Committed' });
      });
      await stage.annotate(name('first'), { 'tx.janus.io/request-rollback': 'yes' });
      await stepToEnd(engine, name('first'));
    });
});
