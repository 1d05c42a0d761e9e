// A kind that cannot be listed: the webhook that converts between its two versions does not exist.
import type { JsonObject } from '../../hooks/objects/json.ts';
import { must, waitFor } from './client.ts';
import type { Stage } from './stage.ts';

interface SomeKind {
  /** Its name in messages. */
  readonly name: string;
  /** Of its objects, before and after it is broken. */
  readonly apiVersion: string;
  /** Makes it unlistable in the stage's namespace, or in that one: it must have an object there. */
  break(namespace?: string): Promise<void>;
  /** Makes it listable again. */
  repair(): Promise<void>;
  remove(): Promise<unknown>;
}

/** Lists that must fail in a row: for a moment the API server answers some from a cache. */
const mostLists = 5;

const webhook = { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://127.0.0.1:1/' } };

/** How a CRD names a webhook for its conversions that does not exist. */
export const deadConversion: JsonObject = { strategy: 'Webhook', webhook };

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** Creates the kind with one object in the stage's namespace; in other namespaces lists of it soon work. */
export async function breakSomeKind(stage: Stage): Promise<SomeKind> {
  const made = await makeSomeKind(stage);
  await made.break();
  return made;
}

/** Creates the kind with one object in the stage's namespace. */
export async function makeSomeKind({ client, namespace }: Stage): Promise<SomeKind> {
  const group = `${namespace}.example.org`;
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const version = (name: string, storage: boolean): JsonObject => ({ name, served: true, storage, schema });
  const names = { plural: 'things', kind: 'Thing' };
  const spec = { group, scope: 'Namespaced', names, versions: [version('v1', true)] };
  const path = `${definitions}/things.${group}`;
  must(await client.create(definitions, { metadata: { name: `things.${group}` }, spec }));
  const things = (name: string, place = namespace): string => `/apis/${group}/${name}/namespaces/${place}/things`;
  const thing = { apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name: 'one' } };
  await waitFor(async () => (await client.create(things('v1'), thing)).code === 201, 'the kind to be served');
  const broken = { conversion: deadConversion, versions: [version('v2', true), version('v1', false)] };
  return {
    name: `things.${group}`,
    apiVersion: `${group}/v1`,
    break: async (place) => {
      must(await client.patch(path, { spec: broken }));
      let failed = 0;
      const isBroken = async (): Promise<boolean> => {
        failed = [200, 404].includes((await client.list(things('v2', place))).code) ? 0 : failed + 1;
        return failed === mostLists;
      };
      await waitFor(isBroken, 'the kind to be broken');
    },
    repair: async () => {
      const whole = { conversion: { strategy: 'None', webhook: null } };
      must(await client.patch(path, { spec: whole }));
      await waitFor(async () => (await client.list(things('v2'))).code === 200, 'the kind to be listed again');
    },
    remove: () => client.delete(path),
  };
}
