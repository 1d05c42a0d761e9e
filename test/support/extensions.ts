// The kinds of Crossplane that packages contain, served without Crossplane.
import { type JsonObject, withPath } from '../../hooks/objects/json.ts';
import { type Client, must, waitFor } from './client.ts';
import { isEstablished } from './install.ts';
import { definitionPath } from './package-paths.ts';
import { definitionOf } from './registry/builder.ts';

export const extensions = 'apiextensions.crossplane.io';

export const servedExtensions: readonly (readonly [version: string, kind: string])[] = [
  ['v1', 'CompositeResourceDefinition'],
  ['v1', 'Composition'],
  ['v1alpha1', 'ManagedResourceDefinition'],
];

export const extensionPlural = (kind: string): string => `${kind.toLowerCase()}s`;

export const extensionPaths = servedExtensions.map(
  ([version, kind]) => `/apis/${extensions}/${version}/${extensionPlural(kind)}`,
);

/** The kinds of Crossplane that packages contain, with any spec. */
export async function serveExtensions(client: Client): Promise<void> {
  for (const [version, kind] of servedExtensions) {
    const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    const definition = definitionOf(extensionPlural(kind), extensions, open, version) as JsonObject;
    must(await client.create(definitionPath(), withPath(definition, ['spec', 'names', 'kind'], kind)));
  }
  for (const [, kind] of servedExtensions) {
    const path = definitionPath(`${extensionPlural(kind)}.${extensions}`);
    await waitFor(async () => isEstablished(must(await client.get(path))), `${kind} to be established`);
  }
  const account = client.asServiceAccount('janus-packages', 'janus-packages');
  for (const path of extensionPaths)
    await waitFor(async () => (await account.get(path, { labelSelector: 'a=b' })).code === 200, `${path} to be served`);
}
