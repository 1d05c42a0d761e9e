// A Secret that is refused: the message names the field, and no value is anywhere but in the Secrets of the test.
import t from 'tap';
import type { JsonObject } from '../../hooks/objects/json.ts';
import { openCli } from '../support/cli.ts';
import { must, waitFor } from '../support/client.ts';
import { account, startStage } from '../support/stage.ts';
import { asJson, contentFrom, holderOf, type Manifest } from '../support/stored-manifests.ts';
import { canary, everything, findings } from '../threats/canaries.ts';

const stage = await startStage(t);
const { client, path } = stage;
const cli = await openCli(t, stage.kubeconfig);
const [[label = '', of = '']] = Object.entries(stage.label) as [[string, string]];
const given = ['-n', stage.namespace, '--service-account', account];
const values: string[] = [];
const fresh = (): string => {
  const value = canary();
  values.push(value);
  return value;
};
const base64 = (text: string) => Buffer.from(text).toString('base64');
const secret = (name: string, more: JsonObject): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name },
  ...more,
});
const printed: string[] = [];

async function run(words: readonly string[], object: JsonObject) {
  const done = await cli.run([...words, '-f', '-'], { input: JSON.stringify(object) });
  printed.push(done.out + done.err);
  return done;
}

const apply = (name: string, object: JsonObject, ...more: readonly string[]) =>
  run(['apply', ...given, '--label', `${label}=${of}`, '--name', name, '--wait', ...more], object);

must(await client.create(path('secrets'), secret('fixed', { immutable: true, data: { key: base64(fresh()) } })));
must(await client.create(path('secrets'), secret('typed', { type: 'example.org/one', data: { key: base64(fresh()) } })));

const recreate = /, or write whenImmutable: Recreate \(janus apply --recreate-immutable\)/.source;
const byEngine: readonly (readonly [string, JsonObject, string])[] = [
  [
    'no-certificate',
    secret('new', { type: 'kubernetes.io/tls', stringData: { 'tls.key': fresh() } }),
    'Invalid (.data[tls.crt]: is required)',
  ],
  [
    'no-json',
    secret('new', { type: 'kubernetes.io/dockerconfigjson', stringData: { '.dockerconfigjson': fresh() } }),
    'Invalid (.data[.dockerconfigjson]: invalid value)',
  ],
  [
    'label',
    secret('new', { metadata: { name: 'new', labels: { a: `${fresh()} !` } } }),
    'Invalid (.metadata.labels: invalid value)',
  ],
  ['immutable', secret('fixed', { immutable: true, data: { key: base64(fresh()) } }), 'Invalid (.data: not allowed here)'],
  ['type', secret('typed', { type: 'example.org/two', stringData: { key: fresh() } }), 'Invalid (.type: invalid value)'],
];

t.test('the program names the field that the API server refuses', async (t) => {
  for (const [name, object, field] of byEngine) {
    const [planned, applied] = [await run(['plan', ...given], object), await apply(name, object)];
    t.match([planned.code, applied.code], [2, 2], name);
    for (const { out } of [planned, applied]) {
      const isFixed = ['immutable', 'type'].includes(name);
      const words = isFixed ? 'exists and cannot be changed in place: give it another name' : 'was refused by a dry run: ';
      t.ok(out.includes(words) && out.includes(`: ${field}`), out);
      t.equal(new RegExp(recreate).test(out), isFixed, out);
    }
  }
});

const byUs: readonly (readonly [string, JsonObject, RegExp])[] = [
  ['key', { data: { 'no key!': base64(fresh()) } }, /data\["no key!"\] is not a valid key: use at most 253 letters/],
  [
    'text',
    { data: { good: base64(fresh()), pin: fresh() } },
    /data\["pin"\] is not base64: encode the value, or write it into stringData/,
  ],
  ['number', { stringData: { pin: 4_711_711 } }, /stringData\["pin"\] is not a text: put it in quotes/],
];

t.test('the program itself refuses values for which the API server names no field, or which it quotes', async (t) => {
  for (const [name, more, why] of byUs) {
    const object = secret('new', more);
    for (const words of [[], ['--plain-secrets']])
      t.match(await apply(name, object, ...words), {
        code: 1,
        out: '',
        err: new RegExp(`^janus: .* holds Secret new, whose ${why.source}`),
      });
    t.match(await run(['plan', ...given], object), { code: 3, out: '', err: why });
    const direct = { serviceAccountName: account, changes: [{ type: 'Apply', content: object }] };
    const kind = { apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction', metadata: { name, namespace: stage.namespace } };
    t.match(await run(['apply'], { ...kind, spec: direct }), { code: 1, out: '', err: why });
    const source: Manifest = { kind: 'Secret', name: `source-${name}`, key: 'x', bytes: asJson(object), gzip: false };
    must(await client.create(path('secrets'), holderOf(source)));
    const target = { apiVersion: 'v1', kind: 'Secret', name: 'new' };
    await stage.transaction(name, [{ type: 'Apply', target, contentFrom: contentFrom(source) }]);
    const hidden = new RegExp(why.source.replace(/\\\[".*"\\\]/, '\\[…\\]'));
    t.match(await stage.finished(name), { phase: 'Failed', message: hidden });
  }
  t.equal((await client.get(path('secrets/new'))).code, 404);
});

t.test('only the Secrets contain the values', async (t) => {
  await waitFor(
    async () => (await client.list(path('events'))).items.length >= byEngine.length + byUs.length,
    'an Event of each',
  );
  const all = [...(await everything(client))].filter(([place]) => !place.startsWith('/api/v1/secrets '));
  t.ok(findings(await everything(client), values, []).length > 0, 'the search finds them in Secrets');
  t.same(findings(new Map([...all, ['printed', printed.join('')]]), values, []), []);
  t.notMatch(printed.join(''), '4711711');
});
