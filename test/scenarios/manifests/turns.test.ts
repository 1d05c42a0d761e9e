// YAML of one namespace, read in the thread of all: it delays no other namespace by more than the text that is read already.
import t from 'tap';
import type { Manifests } from '../../../hooks/cluster.ts';
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

/** Reads for both namespaces, and notes the order. Of `impatient` no text waits for long. */
function noted(impatient: () => string): { readonly parts: Manifests; readonly order: string[] } {
  const order: string[] = [];
  const parts: Manifests = {
    unpack: manifests.unpack,
    async parse(bytes, asker, wait) {
      order.push(`${asker.namespace} waits`);
      const read = await manifests.parse(bytes, asker, asker.namespace === impatient() ? Math.min(wait, 20) : wait);
      order.push(`${asker.namespace} ${read === 'late' ? 'is late' : 'is read'}`);
      return read;
    },
  };
  return { parts, order };
}

async function callsToEnd(stage: Stage, name: string): Promise<number> {
  const before = stage.reports.length;
  t.match((await stepToEnd(stage, name)).status, { phase: 'Committed' });
  return stage.reports.length - before;
}

t.test('40 Transactions of one namespace with heavy YAML, and one of another namespace', async (t) => {
  let crowd = '';
  const { parts, order } = noted(() => crowd);
  const many = await startStage(t, { withoutLoop: true, manifests: parts });
  const few = await startStage(t, { withoutLoop: true, manifests: parts });
  crowd = many.namespace;
  const small = 'data: { color: green }\n';
  await sourced(few, 'alone', small);
  const alone = await callsToEnd(few, 'alone');
  const names = Array.from({ length: 40 }, (_, index) => `heavy-${index}`);
  await Promise.all(names.map((name) => sourced(many, name, `# ${name}\n${small}${heavy}`)));
  await sourced(few, 'beside', small);
  order.splice(0);
  const crowded = Promise.all(names.map((name) => stepToEnd(many, name)));
  await waitFor(async () => order.filter((one) => one === `${crowd} waits`).length >= 20, 'the queue to be long');
  t.equal(await callsToEnd(few, 'beside'), alone, 'no call more');
  const waited = order.slice(order.indexOf(`${few.namespace} waits`), order.indexOf(`${few.namespace} is read`));
  t.ok(waited.filter((one) => one === `${crowd} is read`).length <= 1, 'only the text that was read already came first');
  for (const { phase } of await crowded) t.equal(phase, 'Committed');
  t.ok(order.includes(`${crowd} is late`));
  const late = many.reports.find(({ because }) => because.includes('read after that of other Transactions'));
  t.match(late, { toPhase: 'Pending', because: /^waiting: the YAML of its sources/ });
});
