// Kinds of the tests: one with a status subresource, one without, and one with an equal name in another group.
import { type Client, must, waitFor } from '../support/client.ts';

export const widgets = {
  withStatus: { apiVersion: 'one.faults.test/v1', kind: 'Widget' },
  elsewhere: { apiVersion: 'two.faults.test/v1', kind: 'Widget' },
  withoutStatus: { apiVersion: 'one.faults.test/v1', kind: 'Gadget' },
} as const;

const free = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

export async function installWidgets(client: Client): Promise<void> {
  await Promise.all(
    Object.values(widgets).map(async ({ apiVersion, kind }) => {
      const [group = '', version = ''] = apiVersion.split('/');
      const plural = `${kind.toLowerCase()}s`;
      const schema = { openAPIV3Schema: { type: 'object', properties: { spec: free, status: free } } };
      const subresources = kind === 'Widget' ? { subresources: { status: {} } } : {};
      const versions = [{ name: version, served: true, storage: true, schema, ...subresources }];
      const definition = {
        metadata: { name: `${plural}.${group}` },
        spec: { group, scope: 'Namespaced', names: { kind, plural }, versions },
      };
      must(await client.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition));
      const probe = `/apis/${apiVersion}/namespaces/default/${plural}/probe`;
      const object = { apiVersion, kind, metadata: { name: 'probe' } };
      await waitFor(async () => (await client.apply(probe, object)).code === 201, `${kind}s to be served`);
      must(await client.delete(probe));
    }),
  );
}
