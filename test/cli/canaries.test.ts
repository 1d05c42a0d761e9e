// Values of Secrets, in every place in which a cluster may hold or quote them: no command prints one, in any form. A command without a
// row here fails.
import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import t from 'tap';
import { parse } from 'yaml';
import { commands } from '../../cli/command/registry.ts';
import { at, type JsonObject } from '../../hooks/objects/json.ts';
import schema from '../../schemas/plan.schema.json' with { type: 'json' };
import { openCli } from '../support/cli.ts';
import { must, waitFor } from '../support/client.ts';
import { startDenyingAdmission } from '../support/denying-admission.ts';
import { account, startStage } from '../support/stage.ts';
import { change, createConfigMaps } from '../support/targets.ts';
import { canary, findings } from '../threats/canaries.ts';

const stage = await startStage(t);
const { client, namespace, path } = stage;
const cli = await openCli(t, stage.kubeconfig);
const where = ['-n', namespace];
const [[key = '', value = '']] = Object.entries(stage.label) as [[string, string]];

const values: string[] = [];
const fresh = (): string => {
  const one = canary();
  values.push(one);
  return one;
};
const lastApplied = (): JsonObject => ({ 'kubectl.kubernetes.io/last-applied-configuration': fresh() });
const ofSecret = { kind: 'Secret' };
const secret = (): JsonObject => ({ metadata: { annotations: lastApplied() }, stringData: { key: fresh() } });
const never = { ready: { field: { path: '.data.never' } }, timeout: '5m' };

function transaction(name: string, changes: readonly JsonObject[]): string {
  const metadata = { name, namespace, annotations: lastApplied(), labels: stage.label };
  const spec = { serviceAccountName: account, changes };
  return cli.write(`${name}.json`, JSON.stringify({ apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction', metadata, spec }));
}

/** What the API server refuses, and quotes: a Transaction that holds a Secret, and the content Secret of an apply. */
async function refuseAndQuote(): Promise<void> {
  const name = `quoting-${namespace}`;
  const root = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic';
  const rule = (group: string, resource: string): JsonObject => ({
    ...{ apiGroups: [group], apiVersions: ['*'], resources: [resource], operations: ['CREATE'] },
    resourceNames: ['quoted', 'boxed-contents'],
  });
  const spec = {
    matchConstraints: { resourceRules: [rule('', 'secrets'), rule('tx.janus.io', 'transactions')] },
    matchConditions: [{ name: 'here', expression: `request.namespace == '${namespace}'` }],
    validations: [
      {
        expression: 'false',
        messageExpression:
          "'found ' + (has(object.spec) ? string(object.spec.changes[0].content.stringData.key) : string(object.data['0.json']))",
      },
    ],
  };
  t.teardown(async () => {
    await client.delete(`${root}ybindings/${name}`);
    await client.delete(`${root}ies/${name}`);
  });
  must(await client.create(`${root}ies`, { metadata: { name }, spec }));
  const bound = { policyName: name, validationActions: ['Deny'] };
  must(await client.create(`${root}ybindings`, { metadata: { name }, spec: bound }));
  const canary = fresh();
  const probe = { metadata: { name: 'boxed-contents' }, data: { '0.json': Buffer.from(canary).toString('base64') } };
  const quotes = async (): Promise<boolean> => {
    const { text } = await client.create(path('secrets'), probe, { dryRun: 'All' });
    return findings(new Map([['', text]]), [canary], []).length > 0;
  };
  await waitFor(quotes, 'the policy to be in force');
}

const admission = await startDenyingAdmission(stage, t);
const quoted = [fresh(), fresh()];
admission.decide(({ name, dryRun }) =>
  name === 'denied' || (name === 'late' && !dryRun) ? { code: 403, message: `no: ${quoted}`, reason: `${quoted[0]}` } : undefined,
);
await refuseAndQuote();
await createConfigMaps(stage, ['beside']);
must(
  await client.create(path('secrets'), { metadata: { name: 'old', annotations: lastApplied() }, stringData: { key: fresh() } }),
);
await stage.transaction('plain', [change('Patch', 'old', secret(), ofSecret), change('Create', 'made', secret(), ofSecret)], {
  annotations: lastApplied() as Readonly<Record<string, string>>,
});
await stage.transaction('late', [change('Delete', 'beside'), change('Create', 'late', secret(), ofSecret)]);
await stage.transaction('waits', [
  change('Create', 'waits', secret(), ofSecret),
  { ...change('Create', 'waiting', {}), gate: never },
]);
await stage.finished('plain');
await stage.finished('late');
await stage.phase('waits', 'Committing');
must(await client.patch(path('secrets/old'), { stringData: { key: fresh() } }));

const denied = transaction('denied', [
  change('Patch', 'old', secret(), ofSecret),
  change('Create', 'denied', secret(), ofSecret),
]);
const given = transaction('given', [change('Patch', 'old', secret(), ofSecret), change('Create', 'given', secret(), ofSecret)]);
const odd = transaction('odd', [
  { ...change('Create', 'odd', {}, ofSecret), content: fresh() },
  change('Create', 'odder', { metadata: { name: 'another', annotations: lastApplied() }, stringData: [fresh()] }, ofSecret),
]);
const quotedFile = transaction('quoted', [change('Create', 'quoted', secret(), ofSecret)]);
const manifest = cli.write(
  'manifest.json',
  JSON.stringify({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'applied' }, stringData: { key: fresh() } }),
);
const release = ['-f', manifest, '--service-account', account, '--label', `${key}=${value}`];

/** Command lines with the exit codes that show that they came that far. */
const rows: Readonly<Record<string, readonly (readonly [words: readonly string[], code: number])[]>> = {
  lint: [[['-f', odd], 2]],
  plan: [
    [['-f', denied], 2],
    [['-f', given, '-o', 'json'], 1],
    [['-f', given, '-o', 'yaml'], 1],
    [['-f', given, '-o', 'markdown'], 1],
  ],
  rbac: [[['-f', denied], 0]],
  // It prints the values in the files of its user, and reads none from the cluster.
  render: [],
  apply: [
    [['-f', quotedFile], 1],
    [[...release, '--name', 'boxed'], 1],
    [[...release, '--name', 'clear', '--plain-secrets', '--confirm', '--yes', '--wait'], 0],
  ],
  abort: [[['waits', '--yes', '--wait'], 0]],
  undo: [
    [['plain', '--plan'], 2],
    [['plain', '--plan', '-o', 'json'], 2],
    [['plain', '--yes', '--wait'], 3],
    [['plain', '--yes', '--wait', '--partial', '-o', 'json'], 4],
  ],
  retry: [
    [['plain', '--plan', '-o', 'yaml'], 2],
    [['plain', '--yes', '--wait', '--partial'], 4],
  ],
  status: [
    [['plain', '-o', 'yaml'], 0],
    [['late'], 0],
  ],
  diff: [
    [['plain'], 1],
    [['plain', '-o', 'json'], 1],
  ],
  list: [
    [['-o', 'wide'], 0],
    [['-o', 'json'], 0],
  ],
  history: [[['-o', 'json'], 0]],
  locks: [[[], 0]],
  completion: [[['bash'], 0]],
  doctor: [[['-o', 'json'], 1]],
  version: [[[], 0]],
  __complete: [[['undo', ''], 0]],
};
const offline = ['lint', 'completion', '__complete'];

t.test('no command prints a value of a Secret', async (t) => {
  t.same(Object.keys(rows).sort(), commands.map(({ name }) => name).sort(), 'each command has its row');
  for (const [name, lines] of Object.entries(rows)) {
    for (const [words, code] of lines) {
      const line = [name, ...words, ...(offline.includes(name) ? [] : where)];
      const done = await cli.run(line);
      const printed = done.out + done.err;
      t.equal(done.code, code, `janus ${line.join(' ')}: ${printed}`);
      t.same(findings(new Map([[name, printed]]), values, []), [], `janus ${line.join(' ')}`);
    }
  }
});

t.test('the commands had values that they could print', async (t) => {
  const objects = [...(await client.list(path('secrets'))).items, await stage.read('plain'), await stage.read('clear')];
  t.ok(objects.length > 3);
  const text = JSON.stringify(objects);
  t.ok(values.filter((one) => findings(new Map([['', text]]), [one], []).length > 0).length > 5);
  const transactions = `/apis/tx.janus.io/v1alpha1/namespaces/${namespace}/transactions`;
  const refused = JSON.parse(readFileSync(quotedFile, 'utf8')) as JsonObject;
  const answer = await client.create(transactions, refused);
  t.same(findings(new Map([['refused', answer.text]]), values, []), ['refused']);
});

t.test('no Event contains a value of a Secret', async (t) => {
  const texts = await waitFor(async () => {
    const { items } = await client.list(path('events'));
    return items.length > 5 ? items.map((item) => JSON.stringify(item)) : undefined;
  }, 'Events of these Transactions');
  t.same(findings(new Map(texts.map((text) => [text, text])), values, []), []);
});

t.test('a plan is equal as JSON and as YAML, and fits its schema', async (t) => {
  const [json, yaml] = await Promise.all(
    ['json', 'yaml'].map(async (format) => (await cli.run(['plan', '-f', given, '-o', format, ...where])).out),
  );
  const plan = JSON.parse(json ?? '') as JsonObject;
  const validate = new Ajv({ strict: false }).compile(schema);
  t.ok(validate(plan), JSON.stringify(validate.errors));
  t.ok(Array.isArray(at(plan, 'changes')));
  t.same(parse(yaml ?? '', { version: '1.1' }), plan);
});
