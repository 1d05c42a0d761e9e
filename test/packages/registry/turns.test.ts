// Calls share the turns of one client: no call lasts longer because of another one, nor because of what a manifest repeats.
import t from 'tap';
import { createRegistryClient } from '../../../server/registry/client.ts';
import { imageOf, layerOf, providerYaml, push } from '../../support/registry/builder.ts';
import { startRegistry } from '../../support/registry/process.ts';
import { startProxy } from '../../support/registry/proxy.ts';
import { failureOf, objectsOf, openRegistry } from './clients.ts';

t.test('a call ends by its deadline while all turns are those of another one', async (t) => {
  const proxy = await startProxy(t);
  proxy.act(() => true);
  const client = createRegistryClient({
    cacheDirectory: t.testdir({}),
    cacheBytes: 1 << 20,
    atOnce: 2,
    requestTimeoutMs: 600_000,
  });
  t.teardown(() => client.close());
  const source = `${proxy.host}/acme/p`;
  const long = client.open({ pullSecrets: [], root: source, deadline: 600_000 });
  let ended = 0;
  for (let request = 0; request < 2; request += 1)
    long.tags(source).then(
      () => (ended += 1),
      () => (ended += 1),
    );
  const short = client.open({ pullSecrets: [], root: source, deadline: 300 });
  const digest = `sha256:${'0'.repeat(64)}`;
  const answers = await Promise.all([
    short.tags(source),
    short.digest({ source, version: 'v1.0.0' }),
    short.read(source, digest, () => undefined),
  ]);
  for (const answer of answers)
    t.match(failureOf(answer), { kind: 'unavailable', message: new RegExp(`^${source}: not read in time`) });
  t.equal(ended, 0, 'the other call still waits');
});

t.test('the client fetches a layer once that a manifest names often', async (t) => {
  const { origin } = await startRegistry(t);
  const proxy = await startProxy(t, origin);
  const layer = await layerOf(providerYaml('repeated'));
  const image = imageOf(Array.from({ length: 128 }, () => [layer] as const));
  const digest = await push({ origin, repository: 'acme/repeated', tag: 'v1.0.0' }, image);
  const read = await objectsOf(openRegistry(t), `${proxy.host}/acme/repeated`, digest);
  t.match(read, [{ metadata: { name: 'repeated' } }], 'the uppermost hides the others');
  t.equal(proxy.seen.filter(({ path }) => path.includes('/blobs/')).length, 1);
});
