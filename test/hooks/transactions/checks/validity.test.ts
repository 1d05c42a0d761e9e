// Tables of bad input that the engine refuses without a read of the cluster, each with a reason and a message.
import t from 'tap';
import { type Json, type JsonObject, parseJson } from '../../../../hooks/objects/json.ts';
import { describeFailure } from '../../../../hooks/transactions/checks/failures.ts';
import { describeFaults, fault } from '../../../../hooks/transactions/checks/fault.ts';
import { mostChanges, staticFaults } from '../../../../hooks/transactions/checks/validity.ts';
import { annotations } from '../../../../hooks/transactions/model/transaction.ts';
import { table } from '../../../support/table.ts';
import { change, type TransactionParts, transactionOf } from '../../../support/transactions.ts';

function faultsOf(parts: TransactionParts): readonly string[] {
  return staticFaults(transactionOf(parts)).map(({ reason, message }) => `${reason}: ${message}`);
}

function withTarget(target: JsonObject): TransactionParts {
  return { changes: [change('Patch', 'a', { target: { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', ...target } })] };
}

// JSON texts, so that control characters can be told.
const targets = table<'field and value' | 'is'>(String.raw`
field and value                       | is
apiVersion "v1"                       | good
apiVersion "apps/v1"                  | good
apiVersion "a-b.example.org/v1beta1"  | good
apiVersion ""                         | bad
apiVersion "apps/v1/../.."            | bad
apiVersion "../v1"                    | bad
apiVersion "v1?x=y"                   | bad
apiVersion "v1#x"                     | bad
apiVersion "apps//v1"                 | bad
apiVersion "a..b/v1"                  | bad
apiVersion "a-.b/v1"                  | bad
apiVersion "a.-b/v1"                  | bad
apiVersion "Apps/v1"                  | bad
apiVersion "apps/v1\n"                | bad
apiVersion 1                          | bad
kind "ConfigMap"                      | good
kind ""                               | bad
kind "Config Map"                     | bad
kind "pods/exec"                      | bad
kind "../Secret"                      | bad
kind "1Kind"                          | bad
name "app-config"                     | good
name "system:node"                    | good
name "UPPER.case_1"                   | good
name "..a"                            | good
name ""                               | bad
name "."                              | bad
name ".."                             | bad
name "a/b"                            | bad
name "a%2fb"                          | bad
name "a b"                            | good
name "a\u0000b"                       | bad
name "a\r\nX-Injected: 1"             | bad
name "a\u007fb"                       | bad
name null                             | bad
namespace "shop"                      | good
namespace ""                          | bad
namespace "Shop"                      | bad
namespace "a.b"                       | bad
namespace "../kube-system"            | bad
namespace "-shop"                     | bad
namespace "shop:deployer"             | bad
`);

for (const row of targets) {
  t.test(`target.${row['field and value']} is ${row.is}`, async (t) => {
    const [, field = '', text = ''] = /^(\w+) (.*)$/.exec(row['field and value']) ?? [];
    const found = faultsOf(withTarget({ [field]: parseJson(text) }));
    if (row.is === 'good') return void t.same(found, []);
    t.equal(found.length, 1);
    t.match(found[0], new RegExp(`^Invalid: spec\\.changes\\[0\\]: target\\.${field} ("|is missing: write )`));
    t.notMatch(found[0], /[^\x20-\x7e]/, 'what cannot be printed is not repeated');
  });
}

for (const apiVersion of ['tx.janus.io/v1alpha1', 'tx.janus.io/v9', 'metacontroller.k8s.io/v1alpha1']) {
  t.test(`${apiVersion} is refused as a target, whatever the kind and whether it is served`, async (t) => {
    const found = faultsOf(withTarget({ apiVersion, kind: 'Anything' }));
    t.equal(found.length, 1);
    t.match(found[0], /^Refused: spec\.changes\[0\]: the kinds of \S+ control Transactions/);
  });
}

t.test('lengths', async (t) => {
  const bad = (target: JsonObject): boolean => faultsOf(withTarget(target)).length > 0;
  t.notOk(bad({ name: 'x'.repeat(253) }));
  t.ok(bad({ name: 'x'.repeat(254) }));
  t.notOk(bad({ namespace: 'x'.repeat(63) }));
  t.ok(bad({ namespace: 'x'.repeat(64) }));
  t.ok(bad({ kind: 'X'.repeat(64) }));
  t.ok(faultsOf(withTarget({ name: ' '.repeat(1_000_000) })).join().length < 500, 'and no flood of words');
});

const accounts = table<'name' | 'is'>(`
name                     | is
deployer                 | good
deployer.v2              | good
                         | bad
Deployer                 | bad
other:deployer           | bad
../deployer              | bad
deployer..v2             | bad
deployer-.v2             | bad
deployer.-v2             | bad
-deployer                | bad
system:serviceaccount:x:y | bad
`);
for (const { name, is } of accounts) {
  t.test(`the ServiceAccount "${name}" is ${is}`, async (t) => {
    t.same(faultsOf({ spec: { serviceAccountName: name } }).length, is === 'good' ? 0 : 1);
  });
}

// `content` of a change of ConfigMap `a` in the Transaction's namespace, `shop`.
const contents = table<'content' | 'Create' | 'Update' | 'Patch'>(`
content                                             | Create | Update | Patch
{}                                                  |        |        |
{"data":{"a":"1"}}                                  |        |        |
{"data":{"__proto__":"1"}}                          |        |        |
{"apiVersion":"v1","kind":"ConfigMap"}              |        |        |
{"metadata":{"name":"a","namespace":"shop"}}        |        |        |
{"metadata":{"labels":{"a":"b"}}}                   |        |        |
{"status":{"a":1}}                                  |        |        |
"text"                                              | object | object | object
null                                                | object | object | object
[]                                                  | object | object | object
1                                                   | object | object | object
9007199254740993                                    | object | object | object
{"metadata":null}                                   | object | object | object
{"metadata":[]}                                     | object | object | object
{"apiVersion":"v2"}                                 | says   | says   | says
{"kind":"Secret"}                                   | says   | says   | says
{"kind":1}                                          | says   | says   | says
{"metadata":{"name":"b"}}                           | says   | says   | says
{"metadata":{"name":null}}                          | says   | says   | says
{"metadata":{"uid":"u"}}                            | cannot | cannot | cannot
{"metadata":{"managedFields":[]}}                   | cannot | cannot | cannot
{"metadata":{"resourceVersion":"1"}}                | cannot |        | cannot
`);
for (const { content, ...verdicts } of contents) {
  for (const type of ['Create', 'Update', 'Patch'] as const) {
    t.test(`content ${content} of a ${type}: ${verdicts[type] === '' ? 'good' : verdicts[type]}`, async (t) => {
      const found = faultsOf({ changes: [change(type, 'a', { content: parseJson(content) })] });
      if (verdicts[type] === '') return void t.same(found, []);
      t.equal(found.length, 1);
      t.match(found[0], new RegExp(`^Invalid: spec\\.changes\\[0\\]: content.*${verdicts[type]}`));
    });
  }
}

t.test('a change without a target takes the target from its content, or names the missing field', async (t) => {
  const content = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
  const of = (type: string, more: JsonObject) => faultsOf({ changes: [{ type, ...more }] as never });
  for (const type of ['Create', 'Apply']) {
    t.same(of(type, { content }), []);
    const article = type === 'Apply' ? 'an Apply' : 'a Create';
    const generated = { ...content, metadata: { generateName: 'a-' } };
    t.match(of(type, { content: generated }), [new RegExp(`content\\.metadata\\.generateName: ${article} requires the name`)]);
    t.match(of(type, { content: { ...content, kind: 'ConfigMapList', items: [] } }), [/content is a list of objects/]);
    t.match(of(type, { content: { ...content, metadata: {} } }), [/: content\.metadata\.name is missing: write a name/]);
    t.match(of(type, { contentFrom: { secretKeyRef: { name: 'a', key: 'a' } } }), [/target: is required with contentFrom/]);
    t.same(of(type, {}), ['Invalid: spec.changes[0]: content must be an object']);
  }
  for (const type of ['Update', 'Patch'])
    t.match(of(type, { content }), [/^Invalid: spec\.changes\[0\]: target is missing: write apiVersion, kind and name/]);
  t.match(of('Patch', { content, target: { apiVersion: 'v1', kind: 'ConfigMap' } }), [/: target\.name is missing: write a name/]);
});

for (const type of ['Replace', '', 'create', 'constructor', '__proto__', 'toString']) {
  t.test(`the type "${type}" is none`, async (t) => {
    const found = faultsOf({ changes: [{ ...change('Create', 'a'), type }] });
    t.same(found, [`Invalid: spec.changes[0]: type "${type}" is none of Create, Update, Patch, Delete, Apply`]);
  });
}

t.test('each type but Delete requires content', async (t) => {
  const { content: _none, ...bare } = change('Create', 'a');
  t.match(faultsOf({ changes: [bare] }), [/content must be an object, for Create of ConfigMap a/]);
  for (const content of [null, 'text', { kind: 'Secret' }] as Json[])
    t.same(faultsOf({ changes: [change('Delete', 'a', { content })] }), []);
});

t.test('the number and the type of changes', async (t) => {
  const many = (count: number): TransactionParts => ({
    changes: Array.from({ length: count }, (_, index) => change('Patch', `a${index}`)),
  });
  t.match(faultsOf({ changes: [] }), [/spec\.changes is empty/]);
  t.same(faultsOf(many(mostChanges)), []);
  t.match(faultsOf(many(mostChanges + 1)), [/501 entries, at most 500/]);
  for (const type of ['', 'create', 'Replace', 'constructor']) {
    t.match(faultsOf({ changes: [{ ...change('Delete', 'a'), type }] }), [/Invalid: spec\.changes\[0\]: type "/], type);
  }
});

t.test('a spec that leaves no room for the status', async (t) => {
  const withContent = (length: number): TransactionParts => ({
    changes: [change('Patch', 'a', { content: { data: { long: 'x'.repeat(length) } } })],
  });
  t.same(faultsOf(withContent(1_300_000)), []);
  t.match(faultsOf(withContent(1_450_000)), [/TransactionTooLarge: spec and annotations take 1450\d{3} bytes, at most 1399200 /]);
});

const irreversible = table<'apiVersion' | 'kind' | 'is'>(`
apiVersion              | kind                     | is
v1                      | ConfigMap                | reversible
v1 again                | Namespace                | irreversible
v1 for claims           | PersistentVolumeClaim    | irreversible
v1 for volumes          | PersistentVolume         | irreversible
apiextensions.k8s.io/v1 | CustomResourceDefinition | irreversible
certificates.k8s.io/v1  | CertificateSigningRequest | irreversible
certificates.k8s.io/v1beta1 | PodCertificateRequest | irreversible
example.org/v1          | Namespace                | reversible
`);
for (const { apiVersion, kind, is } of irreversible) {
  t.test(`deleting a ${kind} of ${apiVersion} is ${is}`, async (t) => {
    const changes = [change('Delete', 'a', { target: { apiVersion: apiVersion.split(' ')[0] ?? '', kind, name: 'a' } })];
    const allowed = (value: string): number =>
      faultsOf({ changes, annotations: { [annotations.allowIrreversible]: value } }).length;
    t.equal(faultsOf({ changes }).filter((one) => one.startsWith('Irreversible')).length, is === 'irreversible' ? 1 : 0);
    t.equal(allowed('true'), 0);
    t.equal(allowed('yes'), is === 'irreversible' ? 1 : 0, 'it must be said plainly');
  });
}

t.test('all faults are told at once, the first ten in full', async (t) => {
  const found = staticFaults(
    transactionOf({ spec: { serviceAccountName: '' }, changes: [change('Patch', ''), change('Patch', '..')] }),
  );
  t.same(
    found.map(({ item }) => item),
    [undefined, 0, 1],
  );
  const many = Array.from({ length: 12 }, (_, index) => fault('Invalid', `m${index}`));
  t.equal(describeFaults(many), 'm0; m1; m2; m3; m4; m5; m6; m7; m8; m9; and 2 more');
});

t.test('of secret objects only the reason and the paths of a failure are told', async (t) => {
  const failure = {
    kind: 'refused',
    code: 422,
    reason: 'Invalid',
    message: 'value "canary" is wrong',
    fields: ['data.a'],
    definitive: true,
  } as const;
  t.equal(describeFailure(failure, true, [{ data: { a: 1 } }]), 'Invalid (.data.a)');
  t.equal(describeFailure(failure, true, [{ data: { b: 1 } }]), 'Invalid (.data[…])');
  t.equal(describeFailure(failure, true, []), 'Invalid');
  t.equal(describeFailure(failure, false, []), failure.message);
  t.equal(describeFailure({ ...failure, message: '' }, false, []), 'Invalid (data.a)');
  t.ok(describeFailure({ ...failure, message: 'x'.repeat(9_000) }, false, []).length <= 600);
  t.ok(describeFailure({ ...failure, message: '', fields: Array(20).fill('y'.repeat(200)) }, false, []).length <= 600);
});

t.test('content that is nested too deep is refused, not a bug: a Delete too, for the spec has to be read', async (t) => {
  const nested = (depth: number): Json => parseJson(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`);
  for (const type of ['Create', 'Delete'] as const) {
    t.same(faultsOf({ changes: [change(type, 'a', { content: nested(400) })] }), []);
    for (const depth of [600, 3_000, 9_900]) {
      t.match(faultsOf({ changes: [change(type, 'a', { content: nested(depth) })] }), [/nested deeper than/], `${type} ${depth}`);
    }
  }
});
