// If a write of the loop collides with writes of other clients, it reads and writes again, four times in all.
import t from 'tap';
import { at, type JsonObject } from '../../../hooks/objects/json.ts';
import { connect, freeNamespace, must } from '../client.ts';
import { type Api, connectAsMetacontroller } from './connection.ts';
import { parentsOf } from './parents.ts';
import { installParentKind, kubeconfigOfTests } from './scripted-hook.ts';

const kubeconfig = kubeconfigOfTests();
const client = connect(kubeconfig);
t.teardown(() => client.close());

t.test('other clients write between a read and a write of the loop', async (t) => {
  const parentResource = await installParentKind(client, t);
  const { apiVersion } = parentResource;
  const collection = `/apis/${apiVersion}/namespaces/${await freeNamespace(client, 'parents', t)}/transactions`;
  const signal = new AbortController().signal;
  const api = await connectAsMetacontroller({ kubeconfig, signal });
  t.teardown(() => api.close());
  const create = async (name: string): Promise<JsonObject> =>
    must(await client.create(collection, { apiVersion, kind: 'Transaction', metadata: { name }, spec: {} }));
  const interrupted = (name: string, times: number) => {
    const intruding = intruder(api, times, async (number) => {
      must(await client.patch(`${collection}/${name}`, { metadata: { annotations: { intrusion: `${number}` } } }));
    });
    return { parents: parentsOf(intruding.api, parentResource, signal), puts: intruding.puts };
  };

  await t.test('three times: the fourth write succeeds and keeps what they wrote', async (t) => {
    const parent = await create('patient');
    const { parents, puts } = interrupted('patient', 3);
    const stored = await parents.storeStatus(parent, { phase: 'Done', version: 1 });
    t.equal(puts(), 4);
    t.same(at(stored, 'status'), { phase: 'Done', version: 1 });
    t.equal(at(stored, 'metadata', 'annotations', 'intrusion'), '3');
  });

  await t.test('four times: it fails as a conflict', async (t) => {
    const parent = await create('beaten');
    const { parents, puts } = interrupted('beaten', 4);
    await t.rejects(parents.addFinalizer(parent, 'example.com/one'), { name: 'ApiError', code: 409 });
    t.equal(puts(), 4);
  });

  await t.test('the loop writes no unchanged value', async (t) => {
    const parent = await create('settled');
    const { parents, puts } = interrupted('settled', 0);
    const once = await parents.addFinalizer(parent, 'example.com/one');
    await parents.addFinalizer(once, 'example.com/one');
    t.equal(puts(), 1);
    await parents.storeStatus(once, { phase: 'Done', version: 1 });
    await parents.storeStatus(once, { version: 1, phase: 'Done' });
    t.equal(puts(), 2);
    await parents.removeFinalizer(once, 'example.com/one');
    await parents.removeFinalizer(once, 'example.com/one');
    t.equal(puts(), 3);
  });
});

/** A connection on which somebody else writes before each of the first `times` PUTs. */
function intruder(api: Api, times: number, intrude: (number: number) => Promise<void>) {
  let puts = 0;
  const call: Api['call'] = async (method, path, body) => {
    if (method === 'PUT') {
      puts += 1;
      if (puts <= times) await intrude(puts);
    }
    return api.call(method, path, body);
  };
  return { api: { ...api, call }, puts: () => puts };
}
