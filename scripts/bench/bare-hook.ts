// The baseline for the engine: a hook that sends one apply patch per call and returns the status of it. No locks, no snapshots, no
// checks, no undo.
import { at, isList, isObject, type Json, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { connect, must } from '../../test/support/client.ts';
import { servePlainly } from './plain-server.ts';

const client = connect(process.env.KUBECONFIG ?? '');
servePlainly('bare hook', step);

/** `version` counts the applied changes. */
async function step(parent: Json): Promise<JsonObject> {
  const changes = at(parent, 'spec', 'changes');
  const all = isList(changes) ? changes : [];
  const version = at(parent, 'status', 'version');
  const done = typeof version === 'number' ? version : 0;
  const change = all[done];
  if (change === undefined) return statusOf(done, all.length);
  await apply(change, parent);
  return statusOf(done + 1, all.length);
}

async function apply(change: Json, parent: Json): Promise<void> {
  const namespace = textAt(parent, 'metadata', 'namespace') ?? '';
  const [name = '', content] = [textAt(change, 'target', 'name'), at(change, 'content')];
  const object = { ...(isObject(content) ? content : {}), apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } };
  const account = client.asServiceAccount(namespace, textAt(parent, 'spec', 'serviceAccountName') ?? '');
  must(await account.apply(`/api/v1/namespaces/${namespace}/configmaps/${name}`, object, { fieldManager: 'bare' }));
}

function statusOf(done: number, all: number): JsonObject {
  const isOver = done === all;
  const condition = { type: 'Finished', status: isOver ? 'True' : 'False', reason: 'Bare', message: '' };
  return {
    phase: isOver ? 'Committed' : 'Committing',
    version: Math.max(1, done),
    progress: `${done}/${all}`,
    conditions: [{ ...condition, lastTransitionTime: '2026-01-01T00:00:00Z' }],
  };
}
