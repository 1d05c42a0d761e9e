// Sources that hold no content: each is refused with a reason of its own, all at once, before anything is written or locked, and nothing
// of what they hold is repeated.
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { at, isList, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { everyNth } from '../../support/selection.ts';
import { account, type Stage, startStage } from '../../support/stage.ts';
import { asJson, asYaml, contentFrom, holderOf, type Manifest, pluralOf } from '../../support/stored-manifests.ts';
import { change } from '../../support/targets.ts';

const mebibyte = 1024 * 1024;
const hidden = 'hidden-value';
const good = { data: { color: hidden } };

interface Bad {
  readonly name: string;
  /** What is stored; nothing where there is no source. */
  readonly stored?: Buffer;
  readonly source: JsonObject;
  readonly kind?: Manifest['kind'];
  readonly reason: string;
  readonly message: RegExp;
  readonly type?: string;
}

const unavailable = 'ContentUnavailable';

/** Stored as it is, named with the digest of its unpacked bytes. */
function bad(
  name: string,
  stored: Buffer,
  message: RegExp,
  { bytes = stored, kind = 'ConfigMap', ...more }: Partial<Bad> & { readonly bytes?: Buffer } = {},
): Bad {
  const source = contentFrom({ kind, name, key: 'x', bytes });
  return { name, stored, source, kind, reason: unavailable, message, ...more };
}

/** Nine aliases of nine aliases, nine times over. */
const bomb = [
  'a: &a [x,x,x,x,x,x,x,x,x]',
  ...'bcdefghij'.split('').map((one, index) => `${one}: &${one} [${Array(9).fill(`*${'abcdefghi'[index]}`).join(',')}]`),
].join('\n');

const of = (name: string): string => `key "x" of ConfigMap [^/]*/${name} `;

const all: readonly Bad[] = [
  {
    name: 'missing',
    source: contentFrom({ kind: 'ConfigMap', name: 'missing', key: 'x', bytes: Buffer.of() }),
    reason: unavailable,
    message: /ConfigMap [^/]*\/missing does not exist: create it/,
  },
  {
    name: 'other-key',
    stored: asJson(good),
    source: contentFrom({ kind: 'ConfigMap', name: 'other-key', key: 'y', bytes: asJson(good) }),
    reason: unavailable,
    message: /ConfigMap [^/]*\/other-key has no key "y"/,
  },
  bad('text', Buffer.from(hidden), new RegExp(`${of('text')}holds no object; expected one object in JSON or YAML`)),
  bad('empty', Buffer.of(), new RegExp(`${of('empty')}holds no object`)),
  bad('two', Buffer.from(`a: ${hidden}\n---\nb: 1`), new RegExp(`${of('two')}holds 2 documents`)),
  bad('broken', Buffer.from(`a: ${hidden}\n b: {`), new RegExp(`${of('broken')}is not the YAML of objects: line \\d`)),
  bad('bomb', Buffer.from(bomb), new RegExp(`${of('bomb')}holds a document of more than 300000 values`)),
  bad('no-gzip', Buffer.from([0x1f, 0x8b, 1, 2, 3]), new RegExp(`${of('no-gzip')}is not gzip, or is cut`)),
  bad('cut-gzip', gzipSync(asJson(good)).subarray(0, 20), new RegExp(`${of('cut-gzip')}is not gzip, or is cut`)),
  bad('gzip-bomb', gzipSync(Buffer.alloc(200 * mebibyte)), new RegExp(`${of('gzip-bomb')}unpacks to more than 2097152 bytes`)),
  bad('no-utf8', Buffer.from([0x61, 0xff, 0xfe]), new RegExp(`${of('no-utf8')}is not UTF-8`)),
  bad('changed', asJson(good), /has the digest sha256:[0-9a-f]{64}, contentFrom.digest requires sha256:[0-9a-f]{64}/, {
    bytes: asJson({ data: { color: 'other' } }),
    reason: 'ContentMismatch',
  }),
  bad('secret-changed', asJson(good), /secret-changed has another digest, contentFrom.digest requires sha256:/, {
    bytes: asJson({ data: { color: 'other' } }),
    kind: 'Secret',
    reason: 'ContentMismatch',
  }),
  bad('packed', gzipSync(asJson(good)), /requires sha256:.*the digest is not that of the unpacked bytes/, {
    reason: 'ContentMismatch',
  }),
  bad('other-kind', asYaml({ kind: 'Secret', ...good }), /its content\.kind is "Secret", the target says "ConfigMap"/, {
    reason: 'Invalid',
  }),
  bad('secret-kind', asYaml({ kind: hidden, ...good }), /its content\.kind is another, the target says "ConfigMap"/, {
    kind: 'Secret',
    reason: 'Invalid',
  }),
  bad('elsewhere', asYaml({ metadata: { namespace: hidden } }), /content\.metadata\.namespace does not match/, {
    reason: 'Invalid',
  }),
  bad('secret-version', asYaml({ metadata: { resourceVersion: hidden } }), /content\.metadata\.resourceVersion cannot be set/, {
    kind: 'Secret',
    reason: 'Invalid',
  }),
  bad('list', asYaml({ kind: 'ConfigMapList', items: [good] }), /its content is a list of objects/, {
    reason: 'Invalid',
    type: 'Apply',
  }),
];

async function store({ client, path }: Stage, { name, stored, kind = 'ConfigMap' }: Bad): Promise<void> {
  if (stored === undefined) return;
  const one = { kind, name, key: 'x', bytes: stored, binary: true };
  must(await client.create(path(pluralOf(one)), holderOf(one)));
}

function reasonOf(status: JsonObject): string | undefined {
  const conditions = at(status, 'conditions');
  return textAt(
    (isList(conditions) ? conditions : []).find((one) => textAt(one, 'type') === 'Succeeded'),
    'reason',
  );
}

async function showRefused(t: Test, stage: Stage, { name, source, reason, message, type = 'Create' }: Bad): Promise<void> {
  await stage.transaction(name, [{ ...change(type, `of-${name}`), contentFrom: source }]);
  const status = await stage.finished(name);
  t.match(status, { phase: 'Failed', message });
  t.equal(reasonOf(status), reason);
  t.notMatch(JSON.stringify(status), hidden);
}

t.test('pre-flight refuses sources without content', async (t) => {
  const stage = await startStage(t);
  const versions = async (): Promise<readonly string[]> =>
    (await stage.client.list(stage.path('configmaps'))).items.map((one) => textAt(one, 'metadata', 'resourceVersion') ?? '');
  for (const one of all) await store(stage, one);
  const before = await versions();
  for (const one of everyNth(2, all)) await t.test(one.name, (t) => showRefused(t, stage, one));
  await t.test('one message names all bad sources', async (t) => {
    await stage.transaction(
      'all',
      all.slice(0, 12).map(({ name, source }) => ({ ...change('Create', `of-${name}`), contentFrom: source })),
    );
    const status = await stage.finished('all');
    const items = at(status, 'items');
    const faulty = (isList(items) ? items : []).filter((item) => textAt(item, 'error', 'reason')?.startsWith('Content'));
    t.equal(faulty.length, 12);
  });
  t.same(await versions(), before, 'nothing is written');
  t.same(await stage.leases(), [], 'nothing is locked');
  const kinds = stage.reports.flatMap(({ locks }) => locks.map(({ operation }) => operation));
  t.same(kinds, [], 'and nothing ever was');
});

t.test('pre-flight refuses sources of more than 10 MiB together', async (t) => {
  const stage = await startStage(t);
  const bytes = Buffer.from(`{"data":{"x":"${' '.repeat(2 * mebibyte - 20)}"}}`);
  const one: Manifest = { kind: 'ConfigMap', name: 'large', key: 'x', bytes, gzip: true };
  must(await stage.client.create(stage.path('configmaps'), holderOf(one)));
  await stage.transaction(
    'large',
    [0, 1, 2, 3, 4, 5].map((index) => ({ ...change('Create', `x-${index}`), contentFrom: contentFrom(one) })),
  );
  t.match(await stage.finished('large'), { phase: 'Failed', message: /hold more than 10485760 bytes together/ });
});

t.test('pre-flight refuses sources of more than 500 000 values together', async (t) => {
  const stage = await startStage(t);
  const bytes = Buffer.from(`{"data":{"x":[${'[],'.repeat(200_000)}[]]}}`);
  const one: Manifest = { kind: 'ConfigMap', name: 'wide', key: 'x', bytes, gzip: true };
  must(await stage.client.create(stage.path('configmaps'), holderOf(one)));
  const changes = [0, 1, 2].map((index) => ({ ...change('Create', `x-${index}`), contentFrom: contentFrom(one) }));
  await stage.transaction('wide', changes);
  t.match(await stage.finished('wide'), { phase: 'Failed', message: /hold more than 500000 values together/ });
});

t.test('the engine reads sources with the rights of the ServiceAccount', async (t) => {
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['*'] }];
  const stage = await startStage(t, { rules });
  const { client, namespace } = stage;
  const one: Manifest = { kind: 'Secret', name: 'closed', key: 'x', bytes: asJson(good) };
  must(await client.create(stage.path('secrets'), holderOf(one)));
  const changes = [{ ...change('Create', 'made'), contentFrom: contentFrom(one) }];
  await stage.transaction('closed', changes);
  const may = new RegExp(`ServiceAccount ${namespace}/${account} may not get Secret ${namespace}/closed: allow it`);
  const status = await stage.finished('closed');
  t.match(status, { phase: 'Failed', message: may });
  t.equal(reasonOf(status), unavailable);
  const root = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
  const reading = { apiGroups: [''], resources: ['secrets'], resourceNames: ['closed'], verbs: ['get'] };
  must(await client.create(`${root}/roles`, { metadata: { name: 'reads' }, rules: [reading] }));
  const subjects = [{ kind: 'ServiceAccount', name: account, namespace }];
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reads' };
  must(await client.create(`${root}/rolebindings`, { metadata: { name: 'reads' }, subjects, roleRef }));
  const reader = client.asServiceAccount(namespace, account);
  await waitFor(async () => (await reader.get(stage.path('secrets/closed'))).code === 200, 'the right to be in force');
  await stage.transaction('opened', changes);
  t.match(await stage.finished('opened'), { phase: 'Committed' });
});
