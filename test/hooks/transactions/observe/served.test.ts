// What a 404 without a name proves, together with the CustomResourceDefinition and discovery.
import t from 'tap';
import type { Answer, Reader, ResourcesAnswer } from '../../../../hooks/objects/cluster.ts';
import type { Failure } from '../../../../hooks/objects/failure.ts';
import { findOwners } from '../../../../hooks/transactions/hazards/read-owners.ts';
import { readLive } from '../../../../hooks/transactions/observe/read.ts';
import { isWithoutObjects } from '../../../../hooks/transactions/reading/served.ts';
import { engine } from '../../../../hooks/transactions/writes/resources.ts';
import { transactionOf } from '../../../support/transactions.ts';

const failure: Failure = { kind: 'absent', code: 404, reason: 'NotFound', message: '', fields: [], definitive: true };
const failed = (more: Partial<Failure> = {}): { kind: 'failed'; failure: Failure } => ({
  kind: 'failed',
  failure: { ...failure, ...more },
});
const definition = (established?: string): Answer => {
  const conditions = [
    { type: 'NamesAccepted', status: 'True' },
    ...(established === undefined ? [] : [{ type: 'Established', status: established }]),
  ];
  return { kind: 'ok', object: { status: { conditions } }, serverTime: 0 };
};
const part = {
  group: 'x.example',
  version: 'v1',
  plural: 'parts',
  kind: 'Part',
  namespaced: true,
  verbs: [],
  statusSubresource: false,
};
const all = (resources: readonly (typeof part)[] = [], away: readonly string[] = []): ResourcesAnswer => ({
  kind: 'ok',
  resources,
  away,
});
const other = { ...part, plural: 'others', kind: 'Other' };

/** `gone`: there is none. */
const rows: readonly (readonly [what: string, definition: Answer, all: ResourcesAnswer, gone: boolean])[] = [
  ['neither has a definition nor is served', failed({ subject: 'parts.x.example' }), all([other]), true],
  ['has a definition that was never served', definition('False'), all(), true],
  ['has a definition that nobody has looked at yet', definition(), all(), true],
  ['has a definition', definition('True'), all(), false],
  ['is served in another version', failed({ subject: 'parts.x.example' }), all([part]), false],
  ['may be served by an API server that is away', failed({ subject: 'parts.x.example' }), all([], ['x.example/v2']), false],
  ['is not of the group that is away', failed({ subject: 'parts.x.example' }), all([], ['y.example/v2']), true],
  ['has a definition that may not be read', failed({ kind: 'refused', code: 403 }), all(), false],
  ['has a definition that cannot be read', failed({ kind: 'transient', code: 503 }), all(), false],
  ['is in a cluster whose definitions are not served', failed(), all(), false],
  [
    'is in a cluster whose discovery fails',
    failed({ subject: 'parts.x.example' }),
    failed({ kind: 'transient', code: 503 }),
    false,
  ],
];

const transaction = transactionOf();
const target = { apiVersion: 'x.example/v1beta1', kind: 'Part', namespace: 'shop', name: 'a' };

for (const [what, crd, resources, gone] of rows)
  t.test(`a kind that ${what} ${gone ? 'has no objects' : 'may have objects'}`, async (t) => {
    const asked: string[] = [];
    const reader = {
      get: async ({ resource, name }) => {
        asked.push(name);
        return resource.plural === 'parts' ? failed() : crd;
      },
      resources: async () => resources,
    } as Pick<Reader, 'get' | 'resources'> as Reader;
    t.equal(await isWithoutObjects({ reader, identity: engine }, part), gone);
    t.same(asked, ['parts.x.example']);
    const found = await readLive(reader, transaction, { target, resource: { ...part, version: 'v1beta1' } });
    t.match(found, gone ? { kind: 'absent' } : { kind: 'trouble', isUnserved: true, failure: { kind: 'transient' } });
  });

t.test('a 404 that names the object is proof, whatever the kind', async (t) => {
  const reader = { get: async () => failed({ subject: 'a' }) } as unknown as Reader;
  t.match(await readLive(reader, transaction, { target, resource: part }), { kind: 'absent' });
});

const owner = { apiVersion: 'x.example/v1beta1', kind: 'Part', name: 'a', uid: 'u' };
const present: Answer = { kind: 'ok', object: { metadata: { uid: 'u' } }, serverTime: 0 };

/** `exact`: in its own version. `owner`: what its read comes to. */
const owners: readonly (readonly [
  what: string,
  parts: { exact?: true; all?: ResourcesAnswer; owner?: Answer },
  state: string,
])[] = [
  ['is there', { exact: true, owner: present }, 'alive'],
  ['is there, in another version', { all: all([part]), owner: present }, 'alive'],
  [
    'is another one, in another version',
    { all: all([part]), owner: { ...present, object: { metadata: { uid: 'other' } } } },
    'gone',
  ],
  ['is gone, in another version', { all: all([part]), owner: failed({ subject: 'a' }) }, 'gone'],
  ['is of a kind that was served a moment ago', { exact: true, owner: failed() }, 'trouble'],
  ['is of a kind that is served in no version', { all: all([other]) }, 'unserved'],
  ['is of a kind whose API server is away', { all: all([], ['x.example/v1']) }, 'trouble'],
  ['is of a kind nobody knows while discovery fails', { all: failed({ kind: 'transient', code: 503 }) }, 'trouble'],
];

for (const [what, parts, state] of owners)
  t.test(`an owner that ${what}: ${state}`, async (t) => {
    let discovered = 0;
    const reader = {
      resource: async () => (parts.exact === true ? { kind: 'ok', resource: part } : failed()),
      resources: async () => {
        discovered += 1;
        return parts.all;
      },
      getMetadata: async () => parts.owner,
    } as unknown as Reader;
    const { gone, hidden, unserved, trouble } = await findOwners(reader, engine, [owner, owner], 'shop');
    const found = {
      gone: gone.length > 0,
      hidden: hidden.length > 0,
      unserved: unserved.length > 0,
      trouble: trouble !== undefined,
    };
    const states = Object.entries(found).flatMap(([name, isSo]) => (isSo ? [name] : []));
    t.same(states, state === 'alive' ? [] : [state]);
    t.ok(discovered <= 1, 'discovery is read once for all owners');
  });
