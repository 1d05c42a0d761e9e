// A kind that cannot be listed: the webhook that converts between its two versions does not exist.
import type { JsonObject } from '../../hooks/objects/json.ts';
import { must, waitFor } from './client.ts';
import type { Stage } from './stage.ts';

interface BrokenKind {
  /** Its name in messages. */
  readonly name: string;
  /** Makes it listable again. */
  repair(): Promise<void>;
  remove(): Promise<unknown>;
}

/** Lists that must fail in a row: for a moment the API server answers some from a cache. */
const mostLists = 5;

/** Creates the kind with one object in the stage's namespace; in other namespaces lists of it soon work. */
export async function breakSomeKind({ client, namespace }: Stage): Promise<BrokenKind> {
  const group = `${namespace}.example.org`;
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const schema = { openAPIV3Schema: { type: 'object' } };
  const version = (name: string, storage: boolean): JsonObject => ({ name, served: true, storage, schema });
  const names = { plural: 'things', kind: 'Thing' };
  const spec = { group, scope: 'Namespaced', names, versions: [version('v1', true)] };
  const path = `${definitions}/things.${group}`;
  must(await client.create(definitions, { metadata: { name: `things.${group}` }, spec }));
  const things = (name: string): string => `/apis/${group}/${name}/namespaces/${namespace}/things`;
  const thing = { apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name: 'one' } };
  await waitFor(async () => (await client.create(things('v1'), thing)).code === 201, 'the kind to be served');
  const webhook = { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://127.0.0.1:1/' } };
  const broken = { conversion: { strategy: 'Webhook', webhook }, versions: [version('v2', true), version('v1', false)] };
  must(await client.patch(path, { spec: broken }));
  let failed = 0;
  const isBroken = async (): Promise<boolean> => {
    failed = [200, 404].includes((await client.list(things('v2'))).code) ? 0 : failed + 1;
    return failed === mostLists;
  };
  await waitFor(isBroken, 'the kind to be broken');
  return {
    name: `things.${group}`,
    repair: async () => {
      const whole = { conversion: { strategy: 'None', webhook: null } };
      must(await client.patch(path, { spec: whole }));
      await waitFor(async () => (await client.list(things('v2'))).code === 200, 'the kind to be listed again');
    },
    remove: () => client.delete(path),
  };
}
