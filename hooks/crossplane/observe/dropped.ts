// A definition that would break the live one. What is stored decides: without instances every schema may follow. With instances a field may
// go if no instance holds a value in it, other than its default. The engine reads the instances again before it writes the definition.

import { instancesOf } from '../../objects/definitions.ts';
import { type JsonObject, textAt } from '../../objects/json.ts';
import { isPruned, pruningVersions, readableVersion } from '../../objects/pruning.ts';
import { brokenFault, type DefinitionChange, droppedFault, lostWords } from '../checks/conflicts.ts';
import { type PackageFault, packageFault } from '../model/fault.ts';
import { quoted } from '../model/package.ts';
import { howToAllow, mayBreak, type PackageTransaction } from '../model/package-transaction.ts';
import { definitions } from '../writes/resources.ts';
import { readable } from './instances.ts';
import { hasObjects, list, type PackageReader } from './read.ts';

const mostNamed = 10;

/** Who may allow the loss of values. */
type Allowing = Pick<PackageTransaction, 'name' | 'wanted' | 'annotations' | 'packageUid'>;

interface Changing {
  readonly broken: DefinitionChange;
  /** Gets the instances that lose values, in words, if the user has allowed the loss. */
  readonly notes: Set<string>;
}

export async function faultsOf(
  reader: PackageReader,
  ptx: Allowing,
  { broken, notes }: Changing,
): Promise<readonly PackageFault[]> {
  const { live, breaches } = broken;
  const isFixed = breaches.some(({ rule }) => rule === 'identity' || rule === 'storedVersion');
  if (isFixed || textAt(live, 'kind') !== definitions.kind) return [brokenFault(broken)];
  const isUsed = await readable(live, instancesOf(live), () => hasObjects(reader, instancesOf(live)));
  if (isUsed === false) return [];
  if (typeof isUsed === 'string') return [packageFault('SchemaIncompatible', isUsed)];
  const others = breaches.filter(({ rule }) => rule !== 'fieldRemoved');
  if (others.length > 0) return [brokenFault({ ...broken, breaches: others })];
  return lossOf(reader, ptx, { broken, notes });
}

async function lossOf(reader: PackageReader, ptx: Allowing, { broken, notes }: Changing): Promise<readonly PackageFault[]> {
  const losing = await losingObjects(reader, broken);
  if (typeof losing === 'string') return [packageFault('SchemaIncompatible', losing)];
  if (losing.length === 0) return [];
  const more = losing.length > mostNamed ? ` and ${losing.length - mostNamed} more` : '';
  const objects = `${losing.slice(0, mostNamed).join(', ')}${more}`;
  if (!mayBreak(ptx)) return [droppedFault(broken, objects, howToAllow(ptx))];
  notes.add(lostWords(broken, objects));
  return [];
}

/** The instances that hold a value which the new definition drops, by name, or why they cannot be read, in words. */
async function losingObjects(reader: PackageReader, { live, next }: DefinitionChange): Promise<readonly string[] | string> {
  const schemas = { before: live, after: next };
  const found = new Set<string>();
  for (const version of pruningVersions(live, next)) {
    const resource = { ...instancesOf(live), version: readableVersion(live, version) };
    const keep = (object: JsonObject): JsonObject => ({ name: isPruned(object, schemas, version) ? shownName(object) : '' });
    const items = await readable(live, resource, () => list(reader, resource, undefined, { whole: true, keep }));
    if (typeof items === 'string') return items;
    for (const one of items) found.add(textAt(one, 'name') ?? '');
  }
  found.delete('');
  return [...found].sort();
}

function shownName(object: JsonObject): string {
  const [namespace, name] = [textAt(object, 'metadata', 'namespace'), textAt(object, 'metadata', 'name')];
  return quoted(namespace === undefined ? name : `${namespace}/${name}`);
}
