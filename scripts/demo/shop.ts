// The shop of manifests/examples (and examples/rollback): the fields that the demo shows, and the whole objects for comparison.
import { at, equalJson, isList, type Json, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { type Client, must, waitFor } from '../../test/support/client.ts';
import { pathOf, readManifest } from '../../test/support/install.ts';
import { comparable } from '../../test/support/stage.ts';

const core = '/api/v1/namespaces/shop';
export const deployment = '/apis/apps/v1/namespaces/shop/deployments/web-server';
const paths: Readonly<Record<string, string>> = {
  'ConfigMap app-config': `${core}/configmaps/app-config`,
  'Deployment web-server': deployment,
  'Secret old-api-key': `${core}/secrets/old-api-key`,
  'ConfigMap banner': `${core}/configmaps/banner`,
};

export type Shop = Readonly<Record<string, JsonObject | undefined>>;

export async function openShop(client: Client): Promise<void> {
  for (const path of ['examples/shop.yaml', '../examples/rollback/banner.yaml'])
    for (const object of await readManifest(path)) {
      const collection = (await pathOf(client, object)).replace(/\/[^/]*$/, '');
      must(await client.create(collection, object, { fieldManager: 'kubectl-create' }));
    }
  // The Deployment's controller first writes status and an annotation. An earlier copy would differ in these fields.
  await waitFor(async () => isRolledOut(must(await client.get(deployment))), 'the Deployment web-server to be rolled out');
}

function isRolledOut(object: JsonObject): boolean {
  const number = (...path: readonly string[]): Json | undefined => at(object, ...path);
  const wanted = number('spec', 'replicas');
  const isCurrent = number('status', 'observedGeneration') === number('metadata', 'generation');
  return isCurrent && number('status', 'replicas') === wanted && number('status', 'updatedReplicas') === wanted;
}

export async function look(client: Client): Promise<Shop> {
  const found = Object.entries(paths).map(async ([name, path]) => {
    const answer = await client.get(path);
    return [name, answer.code === 404 ? undefined : must(answer)] as const;
  });
  return Object.fromEntries(await Promise.all(found));
}

/** Rows of object, field, value. */
export function picture(shop: Shop): readonly (readonly [string, string, string])[] {
  const [config, web] = [shop['ConfigMap app-config'], shop['Deployment web-server']];
  return [
    ['ConfigMap app-config', 'data.version', textAt(config, 'data', 'version') ?? ''],
    ['ConfigMap app-config', 'data.greeting', textAt(config, 'data', 'greeting') ?? ''],
    ['Deployment web-server', 'image', imageOf(web)],
    ['Secret old-api-key', '', shop['Secret old-api-key'] === undefined ? 'absent' : 'exists'],
    ['ConfigMap banner', 'data.text', textAt(shop['ConfigMap banner'], 'data', 'text') ?? ''],
  ];
}

export function imageOf(web: JsonObject | undefined): string {
  const containers = at(web, 'spec', 'template', 'spec', 'containers');
  return isList(containers) ? (textAt(containers[0], 'image') ?? '') : '';
}

interface Comparison {
  readonly equal: boolean;
  /** The lines that differ. */
  readonly differences: string;
}

/**
 * Whether an object is again as it was, including its managedFields. The Deployment's controller needs a moment to finish its own
 * writes, so an object that differs is compared again for a while.
 */
export async function compareAgain(client: Client, name: string, before: Shop): Promise<Comparison> {
  const compared = async (): Promise<Comparison> => compare(name, before, await look(client));
  return waitFor(
    async () => {
      const comparison = await compared();
      return comparison.equal && comparison;
    },
    `${name} to be as before`,
    { timeoutMs: 15_000 },
  ).catch(compared);
}

function compare(name: string, before: Shop, after: Shop): Comparison {
  // A recreated object has another uid and creation time.
  const mayBeNew = name.startsWith('Secret');
  const [left = null, right = null] = [before[name], after[name]].map((object) =>
    object === undefined ? null : comparable(object, mayBeNew),
  );
  return { equal: equalJson(left, right), differences: differingLines(left, right) };
}

function differingLines(before: Json, after: Json): string {
  const [left, right] = [before, after].map((value) => JSON.stringify(value, undefined, 1).split('\n'));
  const only = (sign: string, lines: readonly string[] = [], others: readonly string[] = []): readonly string[] =>
    lines.filter((line) => !others.includes(line)).map((line) => `${sign}${line}`);
  return ['(- before, + now)', ...only('-', left, right), ...only('+', right, left)].slice(0, 20).join('\n');
}
