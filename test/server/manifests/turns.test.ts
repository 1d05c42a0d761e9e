// Turns in the thread of YAML, and texts that need no turn.
import t from 'tap';
import type { Requester } from '../../../hooks/objects/cluster.ts';
import { createManifests } from '../../../server/manifests/manifests.ts';
import { rememberTexts } from '../../../server/manifests/texts.ts';

const requester = (namespace: string, uid = 'one'): Requester => ({ namespace, uid });
const read = (text: string) => ({ kind: 'json', text }) as const;
const endless = Buffer.from(`a: |\n${' \r'.repeat(500_000)}`);

t.test('no call waits for a long YAML of another namespace; JSON waits for none', async (t) => {
  const manifests = createManifests({ limit: 600_000, idle: 60_000 });
  t.teardown(() => manifests.close());
  const long = t.rejects(manifests.parse(endless, requester('many'), 0), /has ended/);
  t.equal(await manifests.parse(Buffer.from('a: 1'), requester('few'), 20), 'late');
  t.match(await manifests.parse(Buffer.from('{"a":1}'), requester('few'), 0), { kind: 'object' });
  await manifests.close();
  await long;
});

t.test('the cache knows parsed texts of a Transaction, and drops those that were not used lately', (t) => {
  let now = 0;
  const texts = rememberTexts(10, () => now);
  texts.keep(requester('shop'), 'a', read('123456'));
  t.same(texts.find(requester('shop'), 'a'), read('123456'));
  t.equal(texts.find(requester('shop', 'two'), 'a'), undefined, 'another Transaction');
  texts.keep(requester('shop', 'two'), 'b', read('12345'));
  t.equal(texts.find(requester('shop', 'two'), 'b'), undefined, 'no room: the other one goes on where it was');
  now = 8_000;
  t.ok(texts.find(requester('shop'), 'a'));
  now = 15_000;
  texts.keep(requester('shop', 'two'), 'b', read('12345'));
  t.ok(texts.find(requester('shop'), 'a'), 'used lately');
  now = 30_000;
  texts.keep(requester('shop', 'two'), 'b', read('12345'));
  t.ok(texts.find(requester('shop', 'two'), 'b'));
  t.equal(texts.find(requester('shop'), 'a'), undefined);
  t.end();
});
