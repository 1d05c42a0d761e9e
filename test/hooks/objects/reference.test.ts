// One place makes every name: valid for the API server, and never the same for two objects.
import fc from 'fast-check';
import t from 'tap';
import {
  describe,
  groupOf,
  identityOf,
  lockName,
  type Reference,
  snapshotKey,
  versionOf,
} from '../../../hooks/objects/reference.ts';
import { fieldManagers, holderOf } from '../../../hooks/transactions/model/transaction.ts';
import { table } from '../../support/table.ts';

function referenceOf(text: string): Reference {
  const [apiVersion = '', kind = '', place = ''] = text.split(' ');
  const [namespace = '', ...name] = place.split('/');
  return name.length === 0 ? { apiVersion, kind, name: namespace } : { apiVersion, kind, namespace, name: name.join('/') };
}

const pairs = table<'reason' | 'one' | 'other' | 'same'>(`
reason                                | one                                  | other                                  | same
another version of the same kind      | apps/v1 Deployment shop/web          | apps/v1beta1 Deployment shop/web       | yes
another group                         | v1 Service shop/web                  | serving.knative.dev/v1 Service shop/web | no
another kind                          | v1 Service shop/web                  | v1 Endpoints shop/web                  | no
another namespace                     | v1 Service shop/web                  | v1 Service pub/web                     | no
names that differ in case             | rbac.authorization.k8s.io/v1 Role shop/Web | rbac.authorization.k8s.io/v1 Role shop/web | no
names that differ where a Lease has - | rbac.authorization.k8s.io/v1 Role shop/a:b | rbac.authorization.k8s.io/v1 Role shop/a-b | no
a border that moves                   | v1 ConfigMap a-b/c                   | v1 ConfigMap a/b-c                     | no
cluster-scoped, or in a namespace     | v1 Thing web                         | v1 Thing web/web                       | no
a group in the name of the kind       | b.c/v1 A shop/x                      | c/v1 A.b shop/x                        | no
`);
for (const { reason, one, other, same } of pairs) {
  t.test(`identity and lock: ${reason}`, async (t) => {
    const [left, right] = [referenceOf(one), referenceOf(other)];
    t.equal(identityOf(left) === identityOf(right), same === 'yes');
    t.equal(lockName(left) === lockName(right), same === 'yes');
  });
}

const validName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

const odd = [
  'system:controller:node',
  'UPPER',
  'a..b',
  '.a',
  'a.',
  '-a',
  'a-',
  'a.-b',
  'a-.b',
  'ü',
  '日本',
  '::',
  '…',
  'a b',
  'x'.repeat(253),
  `${'x'.repeat(228)}.y`,
  `${'a.'.repeat(120)}b`,
  `${'a-'.repeat(120)}b`,
  '{}',
  '%2f',
  "'",
];
for (const name of odd) {
  t.test(`the lock of ${name.slice(0, 30)} has a valid name`, async (t) => {
    for (const namespace of [undefined, 'shop', 'n'.repeat(63)]) {
      const place = namespace === undefined ? {} : { namespace };
      const lock = lockName({ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', name, ...place });
      t.match(lock, validName);
      t.ok(lock.length <= 253, `${lock.length} characters`);
    }
  });
}

// What the API server takes for a name at most: no slash, no percent sign, neither `.` nor `..`.
const name = fc.string({ minLength: 1, maxLength: 253, unit: 'grapheme' }).filter((text) => !/[/%|]/.test(text));
const reference: fc.Arbitrary<Reference> = fc.record({
  apiVersion: fc.constantFrom('v1', 'apps/v1', 'rbac.authorization.k8s.io/v1', 'a-b.example.org/v1'),
  kind: fc.constantFrom('A', 'Role', 'ConfigMap'),
  namespace: fc.constantFrom('a', 'shop', 'n'.repeat(63)),
  name,
});

t.test('every lock has a valid name, and no two objects share one', async () => {
  fc.assert(fc.property(reference, (one) => validName.test(lockName(one)) && lockName(one).length <= 253));
  fc.assert(
    fc.property(
      reference,
      reference,
      (one, other) => (identityOf(one) === identityOf(other)) === (lockName(one) === lockName(other)),
    ),
  );
});

t.test('people read which object it is', async (t) => {
  t.equal(describe(referenceOf('apps/v1 Deployment shop/web')), 'Deployment shop/web');
  t.equal(
    describe(referenceOf('rbac.authorization.k8s.io/v1 ClusterRole system:node')),
    'ClusterRole.rbac.authorization.k8s.io system:node',
  );
  t.match(lockName(referenceOf('apps/v1 Deployment shop/web')), /^janus-lock-shop-deployment\.apps-web-[0-9a-f]{10}$/);
  t.equal(snapshotKey(referenceOf('v1 ConfigMap shop/app')), 'ConfigMap_shop_app');
  t.not(snapshotKey(referenceOf('v1 Service shop/web')), snapshotKey(referenceOf('serving.knative.dev/v1 Service shop/web')));
  t.same([groupOf('v1'), versionOf('v1'), groupOf('apps/v1'), versionOf('apps/v1')], ['', 'v1', 'apps', 'v1']);
});

t.test('field managers fit, differ by uid, and our two from each other', async (t) => {
  const uid = '0a1b2c3d-1111-2222-3333-444455556666';
  t.same(fieldManagers({ name: 'deploy', uid }), { forward: 'janus-deploy-0a1b2c3d', restore: 'janus-restore-deploy-0a1b2c3d' });
  const long = fieldManagers({ name: 'x'.repeat(253), uid });
  t.ok(long.forward.length <= 128 && long.restore.length <= 128);
  t.ok(long.forward.endsWith('-0a1b2c3d') && long.restore.endsWith('-0a1b2c3d'));
  const other = fieldManagers({ name: 'restore-deploy', uid });
  t.equal(other.forward, fieldManagers({ name: 'deploy', uid }).restore, 'only a Transaction of the same uid could meet here');
  t.equal(holderOf({ namespace: 'shop', name: 'one', uid }), `shop/one/${uid}`);
});
