// A custom resource whose status a test writes as a controller would.
import type { JsonObject } from '../../hooks/objects/json.ts';
import { must, waitFor } from './client.ts';
import type { Stage } from './stage.ts';

export interface Gadgets {
  /** A change of the gadget of that name. */
  change(type: string, name: string, gate?: JsonObject, size?: number): JsonObject;
  path(name: string): string;
  /** Its controller says whether it is ready; `observed`: of the generation that is stored. */
  report(name: string, ready: 'True' | 'False' | undefined, more?: JsonObject): Promise<void>;
}

interface Test {
  teardown(handler: () => unknown): unknown;
}

/** A kind of its own for the stage, with a status subresource; it goes with the test. */
export async function serveGadgets(t: Test, { client, namespace }: Stage): Promise<Gadgets> {
  const group = `${namespace}.example.org`;
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const openAPIV3Schema = {
    type: 'object',
    properties: {
      spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    },
  };
  const versions = [{ name: 'v1', served: true, storage: true, subresources: { status: {} }, schema: { openAPIV3Schema } }];
  const names = { plural: 'gadgets', kind: 'Gadget' };
  must(
    await client.create(definitions, {
      metadata: { name: `gadgets.${group}` },
      spec: { group, scope: 'Namespaced', names, versions },
    }),
  );
  t.teardown(() => client.delete(`${definitions}/gadgets.${group}`));
  const all = `/apis/${group}/v1/namespaces/${namespace}/gadgets`;
  await waitFor(async () => (await client.list(all)).code === 200, 'gadgets to be served');
  const path = (name: string): string => `${all}/${name}`;
  const target = (name: string): JsonObject => ({ apiVersion: `${group}/v1`, kind: 'Gadget', name });
  return {
    path,
    change: (type, name, gate, size = 1) => ({
      type,
      target: target(name),
      ...(type === 'Delete' ? {} : { content: { spec: { size } } }),
      ...(gate === undefined ? {} : { gate }),
    }),
    async report(name, ready, more = {}) {
      const found = must(await client.get(path(name)));
      const conditions =
        ready === undefined ? [] : [{ type: 'Ready', status: ready, reason: 'Reported', message: 'as the test says' }];
      const { generation } = found.metadata as JsonObject;
      const status = { observedGeneration: generation ?? 0, conditions, ...more };
      must(await client.patch(`${path(name)}/status`, { status }, 'merge'));
    },
  };
}
