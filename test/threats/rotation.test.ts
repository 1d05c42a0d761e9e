// The sealing key is replaced as docs/sealing.md says, by its commands: what was sealed before stays readable until its key is
// dropped, and then the engine shows the reason and writes nothing.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import t from 'tap';
import { at, textAt } from '../../hooks/objects/json.ts';
import { createCluster } from '../../server/kubernetes/cluster.ts';
import { createSealer, type KeyRing } from '../../server/kubernetes/sealer.ts';
import { ensureSealingKeys, sealingKeyName } from '../../server/kubernetes/sealing-key.ts';
import { freeNamespace, must } from '../support/client.ts';
import { openEngines } from '../support/engine.ts';
import { connectionOf } from '../support/kubeconfig.ts';
import { pathWithKubectl } from '../support/kubectl.ts';
import { snapshotOf } from '../support/snapshots.ts';
import { type Stage, startStage } from '../support/stage.ts';
import { step, stepToEnd, stepUntil } from '../support/stepping.ts';
import { change, createConfigMaps } from '../support/targets.ts';

const page = readFileSync(new URL('../../docs/sealing.md', import.meta.url), 'utf8');
const commands = [...page.matchAll(/```sh\n(.*?)```/gs)].map(([, command = '']) => command);
const [addKey = '', useKey = '', listKeys = '', dropKey = ''] = commands;

const run = promisify(execFile);

async function secretPath(stage: Stage, namespace: string): Promise<string> {
  const secret = `/api/v1/namespaces/${namespace}/secrets`;
  must(await stage.client.create(stage.path('secrets'), { metadata: { name: 'one' }, stringData: { color: 'blue' } }));
  must(await stage.client.create(stage.path('secrets'), { metadata: { name: 'two' }, stringData: { color: 'blue' } }));
  return `${secret}/${sealingKeyName}`;
}

async function commit(stage: Stage, name: string): Promise<string> {
  await stage.transaction(name, [
    change('Patch', `${name}-plain`, { data: { color: 'green' } }),
    change('Patch', name, { stringData: { color: 'green' } }, { kind: 'Secret' }),
  ]);
  t.match((await stepToEnd(stage, name)).status, { phase: 'Committed' });
  return JSON.stringify(at(await snapshotOf(stage, name), 'data'));
}

t.test('the commands of docs/sealing.md replace the sealing key', async (t) => {
  const bare = await startStage(t, { withoutLoop: true });
  const namespace = await freeNamespace(bare.client, 'keys', t);
  const path = await secretPath(bare, namespace);
  // As an administrator, since the engine has no right to Secrets outside its own namespace.
  const cluster = createCluster(connectionOf(bare.kubeconfig), { writeTimeout: 10_000 });
  t.teardown(() => cluster.close());
  const read = async (): Promise<KeyRing> => {
    const answer = await ensureSealingKeys(cluster, namespace);
    if (answer.kind === 'failed') throw new Error(answer.failure.message);
    return answer.keyRing;
  };
  let ring = await read();
  const first = ring.current;
  const engines = await openEngines(t, bare);
  const restart = (): Stage => engines.start({ sealer: createSealer(() => ring) });
  const stage = restart();
  const type = async (command: string): Promise<string> => {
    const text = command.replaceAll('janus-system', namespace).replaceAll('/data/key-1', `/data/${first}`);
    const env = { PATH: await pathWithKubectl(), HOME: process.env.HOME, KUBECONFIG: bare.kubeconfig };
    const { stdout } = await run('bash', ['-c', `set -eu -o pipefail\n${text}`], { env });
    ring = await read();
    return stdout;
  };
  const undo = (name: string, value: string): Promise<void> => stage.annotate(name, { 'tx.janus.io/request-rollback': value });

  await createConfigMaps(bare, ['one-plain', 'two-plain']);
  const stored = await commit(stage, 'one');
  for (const form of ['sealed', 'plain']) t.match(stored, `${form}:1.${first}.`);
  await type(addKey);
  t.same([ring.current, ring.keys.size], [first, 2], 'added, and not used yet');
  await type(useKey);
  t.same([ring.current, ring.keys.size], ['key-2', 2]);
  t.match(await commit(stage, 'two'), 'sealed:1.key-2.');
  const listed = await type(listKeys);
  for (const form of ['sealed', 'plain']) for (const key of [first, 'key-2']) t.match(listed, `1 : "${form}:1.${key}\n`);

  const kept = textAt(must(await bare.client.get(path)), 'data', first) ?? '';
  await type(dropKey);
  t.same([...ring.keys.keys()], ['key-2']);
  await undo('one', 'too early');
  // The process that has sealed it remembers what it read.
  t.match((await step(restart(), 'one')).status, {
    phase: 'Committed',
    message:
      /has no effect: snapshot \S+ has no readable entry for spec\.changes\[0\].* key is no longer in the Secret of the engine/,
  });
  t.match(must(await bare.client.get(stage.path('secrets/one'))), { data: { color: Buffer.from('green').toString('base64') } });

  must(await bare.client.patch(path, { data: { [first]: kept } }));
  ring = await read();
  for (const name of ['one', 'two']) {
    await undo(name, 'now');
    await stepUntil(stage, name, 'RolledBack');
    await stepToEnd(stage, name);
    t.match(must(await bare.client.get(stage.path(`secrets/${name}`))), {
      data: { color: Buffer.from('blue').toString('base64') },
    });
  }
});
