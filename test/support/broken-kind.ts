// A kind that cannot be listed: the webhook that converts the one version of it to the other is not there.
import type { JsonObject } from '../../hooks/model/json.ts';
import { must, waitFor } from './client.ts';
import type { Stage } from './stage.ts';

interface BrokenKind {
  /** As it is named in messages. */
  readonly name: string;
  /** It can be listed again. */
  mend(): Promise<void>;
  remove(): Promise<unknown>;
}

/** Lists in a row that must fail: for a moment some are answered from what is cached. */
const mostLists = 5;

/** With one object in the namespace of the stage; in others nothing is in the way of a list for long. */
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
    mend: async () => {
      const whole = { conversion: { strategy: 'None', webhook: null } };
      must(await client.patch(path, { spec: whole }));
      await waitFor(async () => (await client.list(things('v2'))).code === 200, 'the kind to be listed again');
    },
    remove: () => client.delete(path),
  };
}
