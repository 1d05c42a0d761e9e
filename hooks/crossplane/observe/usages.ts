// Objects of packages that Usages of Crossplane protect from deletion.
import { at, objectAt, textAt } from '../../objects/json.ts';
import { groupOf } from '../../objects/reference.ts';
import { inTurn } from '../../objects/requests/in-turn.ts';
import { quoted } from '../model/package.ts';
import type { Garbage } from './observation.ts';
import { partName } from './parts.ts';
import { list, type PackageReader, served } from './read.ts';

/** https://docs.crossplane.io/latest/managed-resources/usages/. The last two are one kind in two versions of Crossplane. */
const usageKinds = [
  ['protection.crossplane.io/v1beta1', 'ClusterUsage'],
  ['apiextensions.crossplane.io/v1beta1', 'Usage'],
  ['apiextensions.crossplane.io/v1alpha1', 'Usage'],
] as const;

/** The objects that a Usage protects, each with the reason in words. */
export async function protectedBy(reader: PackageReader, targets: readonly Garbage[]): Promise<ReadonlyMap<Garbage, string>> {
  const found = await inTurn(usageKinds, async ([apiVersion, kind]) => {
    const resource = await served(reader, apiVersion, kind);
    const usages = resource === undefined ? [] : await list(reader, resource, undefined, { whole: true });
    return usages.flatMap((usage) => {
      const used = targets.filter((one) => isUsed(at(usage, 'spec', 'of'), one));
      const name = quoted(textAt(usage, 'metadata', 'name'));
      return used.map((one) => [one, `${kind} ${name} protects ${partName(one)}: delete it first`] as const);
    });
  });
  return new Map(found.flat());
}

function isUsed(of: ReturnType<typeof at>, { resource, object }: Garbage): boolean {
  if (textAt(of, 'kind') !== resource.kind || groupOf(textAt(of, 'apiVersion') ?? '') !== resource.group) return false;
  const name = textAt(of, 'resourceRef', 'name');
  if (name !== undefined) return name === textAt(object, 'metadata', 'name');
  const labels = objectAt(object, 'metadata', 'labels');
  return Object.entries(objectAt(of, 'resourceSelector', 'matchLabels')).every(([key, value]) => labels[key] === value);
}
