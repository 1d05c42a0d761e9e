// The hook sends every object of a package with `dryRun=All`, as the ServiceAccount that will make the object.
import type { Location } from '../../objects/cluster.ts';
import { isTerminating } from '../../objects/content/ownership.ts';
import { instancesOf, isStorageMoved, storageOf } from '../../objects/definitions.ts';
import { type JsonObject, textAt } from '../../objects/json.ts';
import { type PackageFault, packageFault } from '../model/fault.ts';
import { quoted } from '../model/package.ts';
import { howToAllow, mayBreak, type PackageTransaction } from '../model/package-transaction.ts';
import { installedObject, type Making, type PackageObject } from '../writes/changes.ts';
import { mostObjectBytes } from '../writes/contents.ts';
import { writeOf } from '../writes/resources.ts';
import { readable } from './instances.ts';
import { resourceOf } from './objects.ts';
import type { DryRunFault } from './observation.ts';
import { absentMark, checkAll, type Progress } from './progress.ts';
import { find, hasObjects, type PackageReader, ReadFailed } from './read.ts';

type Fault = PackageFault | DryRunFault;

type Trying = PackageTransaction & Making;

/** Groups of the programs that run package transactions: a package must not replace these programs. */
const ownGroups = ['tx.janus.io', 'pkg.crossplane.io', 'meta.pkg.crossplane.io', 'metacontroller.k8s.io'];

/** The objects of one package. `spec`: that of the package. */
interface Tried {
  readonly objects: readonly PackageObject[];
  readonly spec: JsonObject;
}

export function dryRunAll(
  reader: PackageReader,
  { objects, spec }: Tried,
  ptx: Trying,
  progress: Progress,
): Promise<readonly Fault[] | 'unfinished'> {
  return checkAll(objects, nameOf, (one) => dryRunObject({ reader, ptx, spec, progress }, one), progress);
}

interface TryingObject {
  readonly reader: PackageReader;
  readonly ptx: Trying;
  readonly spec: JsonObject;
  readonly progress: Progress;
}

function nameOf({ revision, object }: PackageObject): string {
  return `${revision} ${textAt(object, 'apiVersion')} ${textAt(object, 'kind')} ${textAt(object, 'metadata', 'name')}`;
}

async function dryRunObject(trying: TryingObject, one: PackageObject): Promise<readonly Fault[]> {
  const { reader, ptx } = trying;
  const { object } = one;
  const what = `${textAt(object, 'kind')} ${quoted(textAt(object, 'metadata', 'name'))}`;
  if (ownGroups.includes(textAt(object, 'spec', 'group') ?? ''))
    return [packageFault('CRDConflict', `${what} belongs to a group of what installs packages`)];
  const size = Buffer.byteLength(JSON.stringify(object));
  if (size > mostObjectBytes)
    return [packageFault('InvalidPackage', `${what} has ${size} bytes, at most ${mostObjectBytes} are possible`)];
  const resource = await resourceOf(reader, object);
  if (resource === undefined)
    return [packageFault('InvalidPackage', `${what}: the cluster does not serve ${quoted(textAt(object, 'apiVersion'))}`)];
  const { faults, live } = await dryRun(trying, one, { resource, name: textAt(object, 'metadata', 'name') ?? '' });
  return faults.length > 0 || live === undefined ? faults : liveFaults(reader, ptx, live, object);
}

/** The stage would fail, although the dry run succeeds. */
async function liveFaults(
  reader: PackageReader,
  ptx: PackageTransaction,
  live: JsonObject,
  next: JsonObject,
): Promise<readonly Fault[]> {
  if (!isTerminating(live)) return mayBreak(ptx) ? [] : storageFaults(reader, ptx, live, next);
  const what = `${textAt(next, 'kind')} ${quoted(textAt(next, 'metadata', 'name'))}`;
  return [{ reason: 'DryRunFailed', message: `${what} is being deleted: wait until it is gone` }];
}

const mostAttempts = 3;

interface DryRun {
  readonly faults: readonly Fault[];
  readonly live: JsonObject | undefined;
}

/** The refusal of the object, and the live object that was read before. */
async function dryRun(trying: TryingObject, one: PackageObject, location: Location): Promise<DryRun> {
  const { reader, ptx, spec } = trying;
  for (let attempt = 1; ; attempt += 1) {
    const live = await liveAt(trying, location, attempt);
    const object = installedObject(one, live, ptx, { spec });
    const answer = await reader.cluster.dryRun(writeOf(location, object, reader.namespace, live));
    if (answer.kind === 'ok') return { faults: [], live };
    const { kind, message } = answer.failure;
    if (kind === 'refused') return { faults: [{ reason: 'DryRunFailed', message: `${location.name}: ${message}` }], live };
    // Another writer writes the object meanwhile, such as the API server the status of a CRD.
    if (kind === 'transient' || attempt === mostAttempts) throw new ReadFailed(answer.failure);
  }
}

/** If the comparison has found no such object, the first attempt reads none: the API server says so if somebody has made one since. */
async function liveAt({ reader, progress }: TryingObject, location: Location, attempt: number): Promise<JsonObject | undefined> {
  const isAbsent = attempt === 1 && progress.has(absentMark(location.resource.kind, location.name));
  return isAbsent ? undefined : find(reader, location);
}

/**
 * If the storage version of a CRD moves while objects exist, the move cannot be undone: objects may be stored in the new version.
 */
async function storageFaults(
  reader: PackageReader,
  ptx: PackageTransaction,
  live: JsonObject,
  next: JsonObject,
): Promise<readonly Fault[]> {
  if (!isStorageMoved(live, next)) return [];
  const isUsed = await readable(live, instancesOf(live), () => hasObjects(reader, instancesOf(live)));
  if (isUsed === false) return [];
  if (typeof isUsed === 'string') return [packageFault('SchemaIncompatible', isUsed)];
  const what = `CRD ${textAt(next, 'metadata', 'name')}: its objects would be stored as ${quoted(storageOf(next))} and no longer as ${quoted(storageOf(live))}`;
  return [packageFault('SchemaIncompatible', `${what}, which cannot be undone while there are objects; ${howToAllow(ptx)}`)];
}
