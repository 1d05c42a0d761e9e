// Where the API server says for how long to stay away, nothing is requested before; a Transaction that could not be read is read again
// at once.
import t from 'tap';
import type { Answer, Cluster, Failed } from '../../../hooks/objects/cluster.ts';
import { at, textAt } from '../../../hooks/objects/json.ts';
import { openEngines } from '../../support/engine.ts';
import { startStage } from '../../support/stage.ts';
import { step, stepToEnd, stepUntil } from '../../support/stepping.ts';
import { change, createConfigMaps } from '../../support/targets.ts';

const green = { data: { color: 'green' } };

function busy(retryAfterSeconds?: number): Failed {
  const failure = {
    kind: 'transient',
    code: 429,
    reason: 'TooManyRequests',
    message: 'later',
    fields: [],
    definitive: true,
  } as const;
  return { kind: 'failed', failure: { ...failure, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) } };
}

interface Port {
  readonly wrap: (cluster: Cluster) => Cluster;
  /** Answers in place of the API server, by `verb Kind`; once each. */
  readonly instead: Map<string, Answer>;
  readonly asked: string[];
}

function createPort(): Port {
  const instead = new Map<string, Answer>();
  const asked: string[] = [];
  const take = (what: string): Answer | undefined => {
    asked.push(what);
    const answer = instead.get(what);
    instead.delete(what);
    return answer;
  };
  return {
    instead,
    asked,
    wrap: (cluster) => ({
      ...cluster,
      get: async (location, identity) => take(`get ${location.resource.kind}`) ?? cluster.get(location, identity),
      listMetadata: async (...args) => {
        const answer = take(`list ${args[0].kind}`);
        return answer?.kind === 'failed' ? answer : cluster.listMetadata(...args);
      },
      send: async (write, isLate) => take(`${write.verb} ${write.location.resource.kind}`) ?? cluster.send(write, isLate),
    }),
  };
}

t.test('the engine obeys Retry-After', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const engines = await openEngines(t, stage);
  const port = createPort();
  const engine = engines.start({ wrap: port.wrap });
  await createConfigMaps(stage, ['a', 'b']);

  await t.test('the engine obeys Retry-After in a change and in an undo', async (t) => {
    await stage.transaction('told', [change('Patch', 'a', green), change('Patch', 'b', green)]);
    await stepUntil(engine, 'told', 'Prepared');
    for (const [verb, phase] of [
      ['apply', 'Committing'],
      ['update', 'RollingBack'],
    ] as const) {
      port.instead.set(`${verb} ConfigMap`, busy(1));
      const told = await step(engine, 'told');
      t.ok(told.resyncAfterSeconds >= 1, `${verb}: it comes again after ${told.resyncAfterSeconds} s`);
      port.asked.length = 0;
      t.equal((await step(engine, 'told')).code, 429, 'a call before that');
      t.same(port.asked, [], 'makes no request');
      await new Promise((resolve) => setTimeout(resolve, 1_100));
      t.match(
        await step(engine, 'told'),
        { phase: phase === 'Committing' ? 'Committing' : /RollingBack|RolledBack/ },
        'then it goes on',
      );
      if (verb === 'apply') {
        await stage.annotate('told', { 'tx.janus.io/request-rollback': 'yes' });
        await stepUntil(engine, 'told', 'RollingBack');
      }
    }
    t.match((await stepToEnd(engine, 'told')).status, { phase: 'RolledBack' });
  });

  await t.test('the engine obeys Retry-After for at most a minute, and at most half of the life of a lock', async (t) => {
    await stage.transaction('bounded', [change('Patch', 'a', green)], { spec: { lockTimeout: '30s' } });
    await stepUntil(engine, 'bounded', 'Prepared');
    port.instead.set('apply ConfigMap', busy(86_400));
    const { resyncAfterSeconds } = await step(engine, 'bounded');
    t.ok(resyncAfterSeconds > 5 && resyncAfterSeconds <= 15, `${resyncAfterSeconds} s`);
    t.match(
      (await stepToEnd(engines.start(), 'bounded')).status,
      { phase: 'Committed' },
      'another process has heard nothing of it',
    );
  });

  await t.test('the engine applies this limit also if it holds locks that it cannot read', async (t) => {
    await stage.transaction('blind', [change('Patch', 'a', green)], { spec: { lockTimeout: '30s' } });
    await stepUntil(engine, 'blind', 'Prepared');
    port.instead.set('list Lease', busy(86_400));
    const { resyncAfterSeconds } = await step(engine, 'blind');
    t.ok(resyncAfterSeconds > 5 && resyncAfterSeconds <= 15, `${resyncAfterSeconds} s without the Leases`);
    const other = engines.start({ wrap: port.wrap });
    port.instead.set('get Transaction', busy(86_400));
    const { code, body } = await other.call('blind');
    t.equal(code, 429);
    const seconds = Number(at(body, 'retryAfterSeconds'));
    t.ok(seconds > 5 && seconds <= 15, `${seconds} s without the Transaction`);
    t.match((await stepToEnd(engines.start(), 'blind')).status, { phase: 'Committed' });
  });
});

t.test('the call reads a Transaction again if the first read failed', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const engines = await openEngines(t, stage);
  const port = createPort();
  const engine = engines.start({ wrap: port.wrap });
  await createConfigMaps(stage, ['c']);
  await stage.transaction('unread', [change('Patch', 'c', green)]);
  await stepUntil(engine, 'unread', 'Prepared');
  port.instead.set('get Transaction', busy());
  const read = await step(engine, 'unread');
  t.match(read, { code: 200, phase: 'Committed' });
  t.equal(port.asked.filter((what) => what === 'get Transaction').length > 1, true);
  t.equal(textAt(at(read.status, 'items'), '0', 'error'), undefined);
});
