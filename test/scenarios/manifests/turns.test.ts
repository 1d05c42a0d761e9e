// YAML of one namespace, read in the thread of all: it delays no other namespace by more than the text that is read already.
import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import type { Manifests } from '../../../hooks/objects/cluster.ts';
import { must, waitFor } from '../../support/client.ts';
import { manifests } from '../../support/manifests.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { stepToEnd } from '../../support/stepping.ts';
import { contentFrom, holderOf, type Manifest, pluralOf } from '../../support/stored-manifests.ts';

/** 1 MB that is read for some ms, and holds little. */
const heavy = '# x\n'.repeat(250_000);

async function sourced({ client, path, transaction }: Stage, name: string, text: string): Promise<void> {
  const manifest: Manifest = { kind: 'ConfigMap', name: `of-${name}`, key: 'x', bytes: Buffer.from(text), gzip: true };
  must(await client.create(path(pluralOf(manifest)), holderOf(manifest)));
  await transaction(name, [
    { type: 'Apply', target: { apiVersion: 'v1', kind: 'ConfigMap', name }, contentFrom: contentFrom(manifest) },
  ]);
}

interface Noted {
  readonly parts: Manifests;
  /** What happened to texts, in order. */
  readonly order: string[];
  /** From now on texts of this namespace wait until there are ten of them, and one of another namespace behind them. */
  crowd(namespace: string): void;
}

/** Long enough for any machine. */
const patient = 60_000;

/** Reads for both namespaces. Every other text of the crowd is late soon; the others stay in the queue until they are read. */
function noted(): Noted {
  let [crowd, waiting] = ['', 0];
  const order: string[] = [];
  const { promise: behind, resolve: follow } = Promise.withResolvers<void>();
  const inCrowd = async (): Promise<number> => {
    waiting += 1;
    const wait = waiting % 2 === 0 ? 1 : patient;
    await behind;
    return wait;
  };
  const afterCrowd = async (): Promise<number> => {
    // The memory of a namespace has room for twelve.
    await waitFor(async () => waiting >= 10, 'the queue to be long');
    follow();
    await setImmediate();
    return patient;
  };
  const parts: Manifests = {
    unpack: manifests.unpack,
    async parse(bytes, requester) {
      const wait = crowd === '' ? patient : await (requester.namespace === crowd ? inCrowd() : afterCrowd());
      order.push(`${requester.namespace} waits`);
      const read = await manifests.parse(bytes, requester, wait);
      order.push(`${requester.namespace} ${read === 'late' ? 'is late' : 'is read'}`);
      return read;
    },
  };
  const setCrowd = (namespace: string): void => {
    crowd = namespace;
  };
  return { parts, order, crowd: setCrowd };
}

async function callsToEnd(stage: Stage, name: string): Promise<number> {
  const before = stage.reports.length;
  t.match((await stepToEnd(stage, name)).status, { phase: 'Committed' });
  return stage.reports.length - before;
}

t.test('40 Transactions of one namespace with heavy YAML, and one of another namespace', async (t) => {
  const { parts, order, crowd } = noted();
  const many = await startStage(t, { withoutLoop: true, manifests: parts });
  const few = await startStage(t, { withoutLoop: true, manifests: parts });
  const small = 'data: { color: green }\n';
  await sourced(few, 'alone', small);
  const alone = await callsToEnd(few, 'alone');
  const names = Array.from({ length: 40 }, (_, index) => `heavy-${index}`);
  await Promise.all(names.map((name) => sourced(many, name, `# ${name}\n${small}${heavy}`)));
  await sourced(few, 'beside', small);
  order.splice(0);
  crowd(many.namespace);
  const crowded = Promise.all(names.map((name) => stepToEnd(many, name)));
  t.equal(await callsToEnd(few, 'beside'), alone, 'no call more');
  const waited = order.slice(order.indexOf(`${few.namespace} waits`), order.indexOf(`${few.namespace} is read`));
  t.ok(waited.filter((one) => one === `${many.namespace} is read`).length <= 1, 'only the text that was read already came first');
  for (const { phase } of await crowded) t.equal(phase, 'Committed');
  t.ok(order.includes(`${many.namespace} is late`));
  const late = many.reports.find(({ because }) => because.includes('read after that of other Transactions'));
  t.match(late, { toPhase: 'Pending', because: /^waiting: the YAML of its sources/ });
});
