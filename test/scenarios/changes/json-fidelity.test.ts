// A custom resource with what JSON holds and programs lose: integers above 2^53, keys such as `__proto__`, empty values, the
// order of lists, breaks of lines that JSON does not escape. All of it survives a change and its undo. The tests compare text, so that no parser hides a loss.
import t from 'tap';
import { at, type JsonObject, parseJson } from '../../../hooks/objects/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { change, portraits } from '../../support/targets.ts';

const odd = `{
  "big": 9007199254740993,
  "negative": -9223372036854775808,
  "largest": 9223372036854775807,
  "nested": [{"id": 9007199254740995, "tags": ["b", "a", "b"]}, {}, [], null],
  "__proto__": {"polluted": 9007199254740997},
  "constructor": {"prototype": "text"},
  "toString": "mine",
  "empty": {}, "emptyList": [], "emptyText": "", "zero": 0, "false": false,
  "decimal": 0.1
}`;

/** Breaks of lines to YAML, and what may not stand in it. */
const signs = 'a\u2028 b \u2029c\u0085 d \u007f\u009b\ufeff\uffff';

interface Kept {
  readonly apiVersion: string;
  readonly path: (name: string) => string;
  readonly collection: string;
}

async function install(stage: Stage, statusSubresource: boolean): Promise<Kept> {
  const { client, namespace } = stage;
  const group = `${statusSubresource ? 'with' : 'without'}-status.${namespace}.example.org`;
  const names = { plural: 'keeps', singular: 'keep', kind: 'Keep', listKind: 'KeepList' };
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const version = {
    name: 'v1',
    served: true,
    storage: true,
    schema,
    ...(statusSubresource ? { subresources: { status: {} } } : {}),
  };
  const definition = { metadata: { name: `keeps.${group}` }, spec: { group, scope: 'Namespaced', names, versions: [version] } };
  must(await client.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition));
  const collection = `/apis/${group}/v1/namespaces/${namespace}/keeps`;
  await waitFor(async () => (await client.get(collection)).code === 200, 'the kind to be served');
  return { apiVersion: `${group}/v1`, collection, path: (name) => `${collection}/${name}` };
}

/** What the API server stores of spec and status, as the text that it sends. */
async function textOf(stage: Stage, path: string): Promise<string> {
  const { text } = await stage.client.get(path);
  return text.slice(text.indexOf('"spec"'));
}

for (const statusSubresource of [true, false]) {
  t.test(
    `a custom resource ${statusSubresource ? 'with' : 'without'} a status subresource comes back to the last digit`,
    async (t) => {
      const stage = await startStage(t);
      const kept = await install(stage, statusSubresource);
      const definition = `keeps.${kept.apiVersion.split('/')[0]}`;
      t.teardown(() => stage.client.delete(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${definition}`));
      const names = ['patched', 'updated', 'deleted'];
      for (const name of names) {
        const object = {
          apiVersion: kept.apiVersion,
          kind: 'Keep',
          metadata: { name },
          spec: parseJson(odd),
          status: parseJson(odd),
        };
        const made = must(await stage.client.create(kept.collection, object, { fieldManager: 'kubectl-create' }));
        if (statusSubresource)
          must(
            await stage.client.update(
              `${kept.path(name)}/status`,
              { ...made, status: parseJson(odd) },
              { fieldManager: 'their-controller' },
            ),
          );
      }
      const show = async (): Promise<unknown> => ({
        texts: await Promise.all(names.map((name) => textOf(stage, kept.path(name)))),
        portraits: await portraits(stage.client, names.map(kept.path), true),
      });
      const before = await show();
      t.match(
        JSON.stringify(before),
        /9007199254740993.*9223372036854775807.*__proto__.*9007199254740997/,
        'the objects hold what they should',
      );

      const kind = { apiVersion: kept.apiVersion, kind: 'Keep' };
      const changed = parseJson(
        `{"spec": {"big": 9007199254740999, "__proto__": {"more": 9007199254741001}, "signs": ${JSON.stringify(signs)}}}`,
      ) as JsonObject;
      const large = parseJson('{"spec": {"big": 9007199254741003, "__proto__": {"polluted": 1}}}') as JsonObject;
      await stage.transaction('odd', [
        change('Patch', 'patched', changed, kind),
        change('Update', 'updated', large, kind),
        change('Delete', 'deleted', undefined, kind),
        change('Create', 'created', large, kind),
      ]);
      t.match(await stage.finished('odd'), { phase: 'Committed' });
      t.match(
        await textOf(stage, kept.path('patched')),
        /"__proto__":\{"more":9007199254741001,"polluted":9007199254740997\}.*"big":9007199254740999/,
      );
      t.equal(at(must(await stage.client.get(kept.path('patched'))), 'spec', 'signs'), signs);
      t.match(await textOf(stage, kept.path('created')), /"__proto__":\{"polluted":1\},"big":9007199254741003/);
      t.equal(
        Object.hasOwn(Object.prototype, 'polluted') || Object.hasOwn(Object.prototype, 'more'),
        false,
        'no prototype is touched',
      );

      await stage.annotate('odd', { 'tx.janus.io/request-rollback': 'yes' });
      await stage.phase('odd', 'RolledBack');
      t.same(await show(), before);
      t.equal((await stage.client.get(kept.path('created'))).code, 404);
      await stage.finished('odd');
    },
  );
}
