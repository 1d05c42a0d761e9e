// A Transaction that leaves no room for its own status is refused in a status of a few bytes, which its user can read.
import t from 'tap';
import { at, type JsonObject, objectsAt } from '../../../hooks/objects/json.ts';
import { storedSize } from '../../../hooks/objects/words.ts';
import { must, waitFor } from '../../support/client.ts';
import { conditionOf, type Stage, startStage } from '../../support/stage.ts';
import { change } from '../../support/targets.ts';

/** Bytes that come later: Metacontroller's finalizer, field managers, the bare status, and the time of the deletion. */
const roomForLater = 3_072;

const count = 50;

/** Changes that take so many bytes together. */
function changesOf(size: number): readonly JsonObject[] {
  const withTexts = (length: number): readonly JsonObject[] =>
    Array.from({ length: count }, (_, index) => change('Create', `large-${index}`, { data: { text: 'x'.repeat(length) } }));
  return withTexts(Math.floor((size - storedSize(withTexts(0))) / count));
}

/** The most bytes of changes, less than 512 below the limit, that the API server stores in a Transaction which no loop serves. */
async function mostThatIsStored({ client, namespace }: Stage): Promise<number> {
  const path = `/apis/tx.janus.io/v1alpha1/namespaces/${namespace}/transactions`;
  let [stored, refused] = [1_555_000, 1_575_000];
  while (refused - stored > 512) {
    const size = Math.floor((stored + refused) / 2);
    const name = `probe-${size}`;
    const { code } = await client.create(path, {
      apiVersion: 'tx.janus.io/v1alpha1',
      kind: 'Transaction',
      metadata: { name },
      spec: { serviceAccountName: 'deployer', changes: changesOf(size) },
    });
    if (code === 201) {
      must(await client.delete(`${path}/${name}`));
      stored = size;
    } else refused = size;
  }
  return stored;
}

t.test('a Transaction as large as the API server stores is refused in a status that fits', async (t) => {
  const stage = await startStage(t);
  const { client, namespace } = stage;
  const size = (await mostThatIsStored(stage)) - roomForLater;
  t.ok(size > 1_560_000, `the API server stores ${size} bytes of changes`);
  await stage.transaction('large', changesOf(size));
  const status = await stage.finished('large');
  const words = /spec and annotations take 15\d{5} bytes, at most 1360000 leave room for the status of 50 changes: split/;
  t.match(status, { phase: 'Failed', version: 1, items: [], progress: '0/50', message: words });
  const succeeded = objectsAt(status, 'conditions').find(({ type }) => type === 'Succeeded');
  t.match(succeeded, { status: 'False', reason: 'TransactionTooLarge', message: words });
  t.equal(conditionOf(status, 'Stalled'), 'True', 'kstatus regards it as failed');
  t.equal(conditionOf(status, 'Ready'), 'False');
  t.ok(storedSize(status) < 1_100, `the status takes ${storedSize(status)} bytes`);
  t.same(await stage.leases(), [], 'nothing is locked');

  const again = await stage.call('large');
  const { observedGeneration: _set, ...stored } = status;
  t.same(at(again.body, 'status'), stored, 'a next call changes nothing');
  t.equal(at(again.body, 'resyncAfterSeconds'), 0, 'and requests no further call');

  const path = `/apis/tx.janus.io/v1alpha1/namespaces/${namespace}/transactions/large`;
  must(await client.delete(path));
  await waitFor(async () => (await client.get(path)).code === 404, 'the Transaction to be gone');
});
