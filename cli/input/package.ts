// A package, or a package transaction, as the only object of the input.
import { type JsonObject, objectAt, textAt } from '../../hooks/objects/json.ts';
import { packageKinds, packagesGroup } from '../../schemas/packages/package-transaction.ts';
import { Problem } from '../problem.ts';
import type { Manifest } from './read.ts';

const apiVersion = `${packagesGroup}/v1alpha1`;
/** Annotations that allow a package transaction more, or less. */
const own = `${packagesGroup}/`;

/** The package transaction that makes its plan. Undefined for other input. Throws a Problem. */
export function dryRunOf(manifests: readonly Manifest[], name: string): JsonObject | undefined {
  const [given, ...others] = manifests;
  if (given === undefined || others.length > 0) return undefined;
  const annotations = Object.entries(objectAt(given.object, 'metadata', 'annotations')).filter(([key]) => key.startsWith(own));
  const metadata = { name, annotations: Object.fromEntries(annotations) };
  const spec = specOf(given);
  return spec && { apiVersion, kind: 'Transaction', metadata, spec: { ...spec, dryRun: true } };
}

function specOf({ object, source }: Manifest): JsonObject | undefined {
  const [version, kind = ''] = [textAt(object, 'apiVersion'), textAt(object, 'kind')];
  if (version === apiVersion && kind === 'Transaction') return objectAt(object, 'spec');
  if (version !== `${packagesGroup}/v1` || !packageKinds.some((one) => one === kind)) return undefined;
  const [name, labels] = [textAt(object, 'metadata', 'name'), objectAt(object, 'metadata', 'labels')];
  if (name === undefined) throw new Problem(`${source} holds a ${kind} without a name: give metadata.name.`);
  const snapshot = { apiVersion: version, kind, metadata: { name, labels }, spec: objectAt(object, 'spec') };
  return { change: 'Install', install: { package: snapshot } };
}
