// Secrets among manifests: their values are in a Secret of their own, never in the Transaction, never in the output. An apply that
// was ended between its two writes leaves a Secret that is named, and used again.
import { readFileSync } from 'node:fs';
import t from 'tap';
import { openSession } from '../../cli/cluster/session.ts';
import { type Call, optionsOf } from '../../cli/command/command.ts';
import { manifestsIn } from '../../cli/input/read.ts';
import { transactionIn } from '../../cli/input/release.ts';
import type { Io } from '../../cli/io.ts';
import { create } from '../../cli/run/creating.ts';
import { run } from '../../cli/run/undo.ts';
import { at, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { notSent } from '../../server/kubernetes/failures.ts';
import { failed } from '../../server/kubernetes/transport.ts';
import { openCli } from '../support/cli.ts';
import { must, waitFor } from '../support/client.ts';
import { startHolding } from '../support/holding.ts';
import { account, startStage } from '../support/stage.ts';
import { change } from '../support/targets.ts';

const stage = await startStage(t);
const cli = await openCli(t, stage.kubeconfig);
const [[key = '', value = '']] = Object.entries(stage.label) as [[string, string]];
const where = ['-n', stage.namespace];
const release = [...where, '--service-account', account, '--label', `${key}=${value}`];
const canary = 'hunter2-canary';
const spellings = [canary, Buffer.from(canary).toString('base64')];
const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'password' }, stringData: { password: canary } };
const others = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'beside' }, data: { color: 'red' } };
const file = cli.write('secret.json', JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [others, secret] }));
const list = async () => (await stage.client.list(stage.path('secrets'), { labelSelector: 'tx.janus.io/contents' })).items;

t.test('the engine applies the value; the Transaction and the output do not contain it', async (t) => {
  const { code, out, err } = await cli.run(['apply', '-f', file, ...release, '--name', 'sealed', '--wait']);
  t.equal(code, 0, out + err);
  const applied = must(await stage.client.get(stage.path('secrets/password')));
  t.equal(textAt(applied, 'data', 'password'), spellings[1]);
  const transaction = await stage.read('sealed');
  for (const text of [out, err, JSON.stringify(transaction)]) for (const spelling of spellings) t.notOk(text.includes(spelling));
  const [contents, ...rest] = await list();
  t.same(rest, []);
  const [change] = at(transaction, 'spec', 'changes') as readonly JsonObject[];
  t.match(change, {
    contentFrom: { secretKeyRef: { name: textAt(contents, 'metadata', 'name') }, digest: /^sha256:[0-9a-f]{64}$/ },
  });
  t.match(at(contents, 'metadata', 'ownerReferences'), [{ kind: 'Transaction', uid: textAt(transaction, 'metadata', 'uid') }]);
  t.equal(at(contents, 'immutable'), true);
});

t.test('diff has the answer of the engine about a sealed object: equal, edited, deleted; it shows no value', async (t) => {
  const diff = () => cli.run(['diff', 'sealed', ...where]);
  t.match(await diff(), { code: 0, out: /^ {2}Secret \S*password: as released: sealed$/m });
  must(await stage.client.patch(stage.path('secrets/password'), { stringData: { password: 'edited-canary' } }));
  const edited = await diff();
  t.match(edited, { code: 1, out: /^~ Secret \S*password: changed since: sealed$/m });
  const stored = JSON.stringify(await stage.read('sealed'));
  for (const text of [edited.out, stored])
    for (const value of ['edited-canary', ...spellings]) t.notOk(text.includes(value), 'no value');
  t.match(at(await stage.read('sealed'), 'status', 'undo', 'sealed'), { changed: [0] });
  must(await stage.client.delete(stage.path('secrets/password')));
  t.match(await diff(), { code: 1, out: /^- Secret \S*password: deleted since: sealed$/m });
});

t.test('the next apply names one that ended between its writes, and goes on', async (t) => {
  const words = ['apply', '-f', file, ...release, '--name', 'orphaned'];
  t.equal((await cli.run(words)).code, 0);
  await stage.finished('orphaned');
  // As it is left when the process dies after the first write: the Secret without owner, no Transaction.
  const path = stage.path('secrets/orphaned-contents');
  must(await stage.client.patch(path, { metadata: { ownerReferences: null } }));
  must(await stage.client.delete(`/apis/tx.janus.io/v1alpha1/namespaces/${stage.namespace}/transactions/orphaned`));
  const locks = await cli.run(['locks', ...where]);
  t.match(locks.out, new RegExp(`^Secret ${stage.namespace}/orphaned-contents holds contents of an interrupted apply`, 'm'));
  const other = cli.write('other.json', JSON.stringify({ ...secret, stringData: { password: 'another' } }));
  const refused = await cli.run(['apply', '-f', other, ...release, '--name', 'orphaned']);
  t.match(refused, {
    code: 1,
    out: '',
    err: /Secret .*\/orphaned-contents exists with other contents, perhaps left by an earlier apply/,
  });
  t.match(refused.err, /orphaned-contents was left by an interrupted apply/);
  const { code, err } = await cli.run([...words, '--wait']);
  t.equal(code, 0, err);
  t.match(err, /orphaned-contents was left by an interrupted apply, and is used now/);
  t.match(at(must(await stage.client.get(path)), 'metadata', 'ownerReferences'), [{ name: 'orphaned' }]);
});

/** The create of a Transaction that is no dry run. */
const isCreate = (url: string) => /\/transactions\?/.test(url) && !url.includes('dryRun');

t.test('the next apply and the command locks name the rest of an apply that was killed between its writes', async (t) => {
  const held = await startHolding(t, stage.kubeconfig, ({ method, url = '' }) => method === 'POST' && isCreate(url));
  const kubeconfig = cli.write('held.json', JSON.stringify(held.kubeconfig));
  const words = ['apply', '-f', file, ...release, '--name', 'killed'];
  const running = cli.start([...words, '--kubeconfig', kubeconfig]);
  await held.arrived;
  running.process.kill('SIGKILL');
  t.match(await running.finished, { code: null, out: '' });
  held.drop();
  const transaction = `/apis/tx.janus.io/v1alpha1/namespaces/${stage.namespace}/transactions/killed`;
  t.equal((await stage.client.get(transaction)).code, 404, 'there is no Transaction');
  const path = stage.path('secrets/killed-contents');
  t.equal(at(must(await stage.client.get(path)), 'metadata', 'ownerReferences'), undefined, 'and a Secret without owner');
  const secretName = `Secret ${stage.namespace}/killed-contents`;
  t.match(await cli.run(['locks', ...where]), {
    code: 0,
    out: new RegExp(`^${secretName} holds contents of an interrupted apply`, 'm'),
  });
  const next = await cli.run(['apply', '-f', file, ...release, '--name', 'next', '--wait']);
  t.equal(next.code, 0, next.err);
  t.match(next.err, `${secretName} was left by an interrupted apply`);
  const { code, err } = await cli.run([...words, '--wait']);
  t.equal(code, 0, err);
  t.match(err, `${secretName} was left by an interrupted apply, and is used now`);
  t.match(at(must(await stage.client.get(path)), 'metadata', 'ownerReferences'), [{ name: 'killed' }]);
});

t.test('the next apply sets the owner if the former one ended before it did', async (t) => {
  const path = stage.path('secrets/killed-contents');
  must(await stage.client.patch(path, { metadata: { ownerReferences: null } }));
  t.match(await cli.run(['apply', '-f', file, ...release, '--name', 'killed']), { code: 0, out: /killed unchanged/ });
  t.match(at(must(await stage.client.get(path)), 'metadata', 'ownerReferences'), [{ name: 'killed' }]);
});

t.test('apply does not make the Transaction the owner of a Secret that another client created', async (t) => {
  const path = stage.path('secrets/killed-contents');
  must(await stage.client.patch(path, { metadata: { ownerReferences: null, labels: null } }));
  t.match(await cli.run(['apply', '-f', file, ...release, '--name', 'killed']), { code: 0, out: /killed unchanged/ });
  t.equal(at(must(await stage.client.get(path)), 'metadata', 'ownerReferences'), undefined);
});

t.test('apply works without a name, and in the clear if the user wants it', async (t) => {
  const before = (await list()).length;
  const generated = await cli.run(['apply', '-f', file, ...release, '--generate-name', 'nightly-', '--wait']);
  t.match(generated, { code: 0, out: /^transaction\.tx\.janus\.io\/nightly-\w+ created/ });
  t.equal((await list()).length, before + 1);
  t.equal((await cli.run(['apply', '-f', file, ...release, '--name', 'plain', '--plain-secrets', '--wait'])).code, 0);
  t.equal((await list()).length, before + 1);
  t.ok(JSON.stringify(at(await stage.read('plain'), 'spec')).includes(canary));
});

t.test('a refused Transaction leaves no Secret', async (t) => {
  const before = (await list()).length;
  const { code, out, err } = await cli.run(['apply', '-f', file, ...release, '--name', 'bad', '--label', 'no label=x']);
  t.match({ code, out, err }, { code: 1, out: '', err: /^janus: Cannot create transactions\.tx\.janus\.io/m });
  t.equal((await list()).length, before);
});

const interruption = new AbortController();
const io = {
  stdout: { write: () => true },
  stderr: { write: () => true },
  interrupted: interruption.signal,
  program: 'janus',
} as unknown as Io;

/** What `apply` creates for the file, in this process: `ask` comes between its look and its writes. */
async function createHere(
  name: string,
  ask: () => Promise<void> = async () => undefined,
  session = openSession(stage, {}),
  interrupted = interruption.signal,
) {
  const manifests = manifestsIn({ name: file, text: readFileSync(file, 'utf8') });
  const options = {
    isNamespaceGiven: true,
    serviceAccount: account,
    recreateImmutable: false,
    allowIrreversible: false,
    deleteFilled: false,
    plainSecrets: false,
  };
  const rest = { fieldManager: undefined, gate: undefined, name: { name }, namespace: stage.namespace, labels: stage.label };
  return create(
    { session, io: { ...io, interrupted }, engineNamespace: 'janus-system', isNewNameWanted: false, ask },
    transactionIn(manifests, { ...options, ...rest }),
  );
}

t.test('one of two applies at once creates the Transaction, and the other follows it', async (t) => {
  const second = await createHere('twice', async () => {
    t.match(await createHere('twice'), { found: false });
  });
  t.match(second, { wanted: { name: 'twice' }, found: true });
  t.match(await stage.finished('twice'), { phase: 'Committed' });
});

t.test('the next apply follows the Transaction if the answer to its creation was lost', async (t) => {
  const session = openSession(stage, {});
  const request: typeof session.cluster.transport.request = async (sent, ...rest) => {
    const answer = await session.cluster.transport.request(sent, ...rest);
    const isLost = sent.method === 'POST' && sent.path?.endsWith('/transactions') && sent.query?.dryRun === undefined;
    return isLost ? failed({ ...notSent('ConnectionFailed', 'lost'), definitive: false }) : answer;
  };
  const lossy = { ...session, cluster: { ...session.cluster, transport: { ...session.cluster.transport, request } } };
  await t.rejects(createHere('lost', undefined, lossy), {
    message:
      /gives no answer .* Whether it was created is not known: repeat the command, which then follows it, or run janus list\.$/,
  });
  t.match(await createHere('lost'), { found: true });
  t.match(await stage.finished('lost'), { phase: 'Committed' });
});

t.test('apply compares an existing Secret only if the API server accepts the new one, and keeps it', async (t) => {
  const words = ['apply', '-f', file, ...release, '--name', 'lost'];
  t.match(await cli.run([...words, '--confirm', '--yes']), { code: 0, out: /^transaction\S+ unchanged\n$/ });
  t.match(await cli.run([...words, '--gate', '--new-name', '--confirm', '--yes']), { code: 0, out: /lost-2 created\n$/ });
  t.match(await cli.run([...words, '--service-account', 'No_Name']), { code: 1, err: /^janus: Cannot create transactions/m });
  const path = `/apis/tx.janus.io/v1alpha1/namespaces/${stage.namespace}/transactions/lost`;
  must(await stage.client.patch(path, { metadata: { finalizers: ['example.org/held'] } }));
  must(await stage.client.delete(path));
  t.match(await cli.run(words), { code: 1, out: '', err: /Transaction lost is being deleted: wait/ });
  must(await stage.client.patch(path, { metadata: { finalizers: null } }));
});

const isReal = (sent: { readonly method: string; readonly path?: string | undefined; readonly query?: object }) =>
  sent.method === 'POST' && sent.path?.endsWith('/transactions') && !JSON.stringify(sent.query).includes('dryRun');

t.test('apply deletes its Secret after a refusal, unless a user has taken it over', async (t) => {
  const session = openSession(stage, {});
  const refusal = { ...notSent('Forbidden', 'exceeded quota'), kind: 'refused', code: 403 } as const;
  const refusing = (before: () => Promise<unknown>) => {
    const request: typeof session.cluster.transport.request = async (sent, ...rest) => {
      if (!isReal(sent)) return session.cluster.transport.request(sent, ...rest);
      await before();
      return failed(refusal);
    };
    return { ...session, cluster: { ...session.cluster, transport: { ...session.cluster.transport, request } } };
  };
  const path = stage.path('secrets/unmade-contents');
  const isThere = async () => t.equal((await stage.client.get(path)).code, 200, 'it was made');
  await t.rejects(createHere('unmade', undefined, refusing(isThere)), {
    message: /exceeded quota(?!.* is left)/s,
  });
  t.equal((await stage.client.get(path)).code, 404);
  const touch = () => stage.client.patch(path, { metadata: { annotations: { mine: 'yes' } } });
  await t.rejects(createHere('unmade', undefined, refusing(touch)), {
    message: /Secret unmade-contents with its contents is left/,
  });
  t.match(await createHere('unmade'), { found: false });
});

const tls = (name: string, data: JsonObject): JsonObject => ({
  ...{ apiVersion: 'v1', kind: 'Secret', type: 'kubernetes.io/tls', metadata: { name: name.slice(0, 9) } },
  stringData: data,
});

t.test('a user can correct a refused release and use its --name again', async (t) => {
  const apply = (name: string, data: JsonObject, ...words: readonly string[]) =>
    cli.run(['apply', '-f', '-', ...release, '--name', name, '--wait', ...words], { input: JSON.stringify(tls(name, data)) });
  const long = 'n'.repeat(230);
  for (const [name, next] of [
    ['burnt', 'burnt-2'],
    [long, `${long.slice(2)}-2`],
  ] as const) {
    t.match(await apply(name, { 'tls.key': canary }), { code: 2, out: / failed after [\s\S]*Nothing was applied/ });
    const corrected = await apply(name, { 'tls.key': canary, 'tls.crt': canary });
    t.match(corrected, { code: 0, out: `${next} created` }, corrected.err);
    t.match(corrected.err, `Transaction ${name} ended as Failed, and stays as a record: this release gets the name ${next}.`);
    t.match(must(await stage.client.get(stage.path(`secrets/${next}-contents`))), {
      metadata: { ownerReferences: [{ name: next }] },
    });
    t.match(await apply(name, { 'tls.key': canary, 'tls.crt': canary }), { code: 0, out: `${next} unchanged` });
  }
  const before = (await list()).length;
  t.match(await apply(`${long}n`, { 'tls.key': canary, 'tls.crt': canary }), {
    code: 64,
    out: '',
    err: /at most 230/,
  });
  t.equal((await list()).length, before);
});

t.test('a user can use the --name again after a right was missing', async (t) => {
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  must(await stage.client.create(stage.path('serviceaccounts'), { metadata: { name: 'weak' } }));
  const input = JSON.stringify(secret);
  const words = [
    'apply',
    '-f',
    '-',
    ...where,
    '--service-account',
    'weak',
    '--label',
    `${key}=${value}`,
    '--name',
    'weak',
    '--wait',
  ];
  t.match(await cli.run(words, { input }), { code: 2, out: /weak/ });
  const binding = `${rbac}/namespaces/${stage.namespace}/rolebindings`;
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: stage.namespace };
  const subjects = [{ kind: 'ServiceAccount', name: 'weak', namespace: stage.namespace }];
  must(await stage.client.create(binding, { metadata: { name: 'weak' }, roleRef, subjects }));
  const weak = stage.client.asServiceAccount(stage.namespace, 'weak');
  await waitFor(async () => (await weak.get(stage.path('secrets/password'))).code === 200, 'the right to be in force');
  const again = await cli.run(words, { input });
  t.match(again, { code: 0, out: /weak-2 created/, err: /Transaction weak ended as Failed/ }, again.out + again.err);
});

t.test('a request writes nothing if the Transaction was deleted and created again meanwhile', async (t) => {
  const patch = change('Patch', 'beside', { data: { color: 'blue' } });
  const stored = await stage.transaction('replaced', [patch]);
  await stage.finished('replaced');
  const session = openSession(stage, {});
  let replacements = 0;
  const request: typeof session.cluster.transport.request = async (sent, ...rest) => {
    if (sent.method === 'PATCH' && replacements === 0) {
      replacements += 1;
      const path = `/apis/tx.janus.io/v1alpha1/namespaces/${stage.namespace}/transactions/replaced`;
      must(await stage.client.delete(path));
      await waitFor(async () => (await stage.client.get(path)).code === 404, 'it to be gone');
      t.not(at(await stage.transaction('replaced', [patch]), 'metadata', 'uid'), at(stored, 'metadata', 'uid'));
      await stage.finished('replaced');
    }
    return session.cluster.transport.request(sent, ...rest);
  };
  const meddled = { ...session, cluster: { ...session.cluster, transport: { ...session.cluster.transport, request } } };
  const options = optionsOf({ yes: true });
  const call: Call = {
    io,
    options,
    operands: ['replaced'],
    commands: [],
    connect: async () => ({ ...meddled, namespace: stage.namespace }),
  };
  await t.rejects(run(call, 'undo'), {
    message: /it was deleted, and another Transaction has its name\. Nothing was changed\.$/,
  });
  t.equal(replacements, 1);
  t.equal(at(await stage.read('replaced'), 'metadata', 'annotations', 'tx.janus.io/request-rollback'), undefined);
});

t.test('Ctrl-C between the Secret and the Transaction deletes the Secret', async (t) => {
  const before = (await list()).length;
  const [session, ended] = [openSession(stage, {}), new AbortController()];
  const request: typeof session.cluster.transport.request = async (sent, ...rest) => {
    const answer = await session.cluster.transport.request(sent, ...rest);
    if (sent.method === 'POST' && sent.path?.endsWith('/secrets')) {
      t.equal((await list()).length, before + 1);
      ended.abort();
    }
    return answer;
  };
  const watched = { ...session, cluster: { ...session.cluster, transport: { ...session.cluster.transport, request } } };
  await t.rejects(createHere('between', undefined, watched, ended.signal), {
    message: /^Interrupted: nothing more is created\.$/,
    code: 130,
  });
  t.equal((await list()).length, before);
});

t.test('the program creates nothing after Ctrl-C', async (t) => {
  const before = (await list()).length;
  await t.rejects(
    createHere('cancelled', async () => interruption.abort()),
    { message: /^Interrupted: nothing more is created\.$/, code: 130 },
  );
  t.equal((await list()).length, before);
  t.equal((await stage.client.get(`/apis/tx.janus.io/v1alpha1/namespaces/${stage.namespace}/transactions/cancelled`)).code, 404);
});
