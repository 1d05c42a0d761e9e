// A last check before the hook writes the Lock: packages are at their version, revisions are Active and control their objects. CRDs
// are Established, and the API server has accepted their names.
import { at, type JsonObject, listAt, objectsAt, textAt } from '../../objects/json.ts';
import { foreign } from '../../objects/words.ts';
import { controllerOf } from '../checks/conflicts.ts';
import type { Stage } from '../model/status.ts';
import { isPaused, pausedAnnotation } from '../writes/beside.ts';
import type { ChangedPackage, PackageObject } from '../writes/changes.ts';
import { packagesOfKind, revisionsOfKind } from '../writes/resources.ts';
import { readStage, resourceOf } from './objects.ts';
import type { Context } from './observation.ts';
import { checkAll, type Progress, soFar } from './progress.ts';
import { find, findMetadata, type PackageReader } from './read.ts';

/** Objects that are not as the stages made them, in words. */
export async function readVerification(
  reader: PackageReader,
  { ptx: { status }, isBeside }: Pick<Context, 'ptx' | 'isBeside'>,
  progress: Progress,
): Promise<readonly string[] | 'unfinished'> {
  const faults: string[] = [];
  const checks = isBeside === true ? checksBeside : checksAlone;
  for (const stage of status.stages) {
    const check = checks[stage.purpose];
    const found = check === undefined ? [] : await checkStage({ reader, check }, stage, progress);
    if (found === 'unfinished') return soFar(faults);
    faults.push(...found);
  }
  return faults;
}

type Check = (reader: PackageReader, item: JsonObject) => Promise<readonly string[]>;

type Checks = Readonly<Partial<Record<Stage['purpose'], Check>>>;

const checksAlone: Checks = { Packages: ofPackage, Objects: ofObject, Activation: ofRevision };

const checksBeside: Checks = { ...checksAlone, Packages: ofPausedPackage };

async function checkStage(
  { reader, check }: { readonly reader: PackageReader; readonly check: Check },
  stage: Stage,
  progress: Progress,
): Promise<readonly string[] | 'unfinished'> {
  const items = await readStage(reader, stage);
  if (items === undefined) return [`the contents of ${stage.name} are not those that were stored`];
  const nameOf = ({ object, revision = null }: JsonObject): string =>
    `${stage.name} ${textAt(object, 'kind')} ${textAt(object, 'metadata', 'name')} ${revision}`;
  return checkAll(items, nameOf, (item) => check(reader, item), progress);
}

async function ofPackage(reader: PackageReader, item: JsonObject): Promise<readonly string[]> {
  const { kind, name, package: expected } = item as unknown as ChangedPackage;
  const live = await find(reader, { resource: packagesOfKind(kind), name });
  const found = live === undefined ? 'no such object' : (textAt(live, 'spec', 'package') ?? 'none');
  return found === expected ? [] : [`${kind} ${name}: expected package ${expected}, found ${foreign(found, longestWords)}`];
}

/** Crossplane's package manager would write the Lock. */
async function ofPausedPackage(reader: PackageReader, item: JsonObject): Promise<readonly string[]> {
  const { kind, name } = item as unknown as ChangedPackage;
  const live = await find(reader, { resource: packagesOfKind(kind), name });
  if (live === undefined || isPaused(live)) return ofPackage(reader, item);
  const what = `${kind} ${name}: expected the annotation ${pausedAnnotation}=true, which it had`;
  const writer = managerOf(live, pausedAnnotation);
  if (writer === undefined) return [`${what}; somebody has removed it, and managedFields do not show who`];
  return [`${what}; ${foreign(writer, longestWords)} has written another value`];
}

/** The field manager that has written the annotation; undefined if the object does not have it. */
function managerOf(live: JsonObject, annotation: string): string | undefined {
  const entries = objectsAt(live, 'metadata', 'managedFields');
  const writer = entries.find((entry) => at(entry, 'fieldsV1', 'f:metadata', 'f:annotations', `f:${annotation}`) !== undefined);
  return textAt(writer, 'manager');
}

const longestWords = 300;

async function ofRevision(reader: PackageReader, item: JsonObject): Promise<readonly string[]> {
  const { kind, revision } = item as unknown as ChangedPackage;
  const live = await find(reader, { resource: revisionsOfKind(kind), name: revision });
  const found = live === undefined ? 'nothing' : (textAt(live, 'spec', 'desiredState') ?? 'no state');
  return found === 'Active' ? [] : [`${kind}Revision ${revision}: expected it to be Active, found ${found}`];
}

async function ofObject(reader: PackageReader, item: JsonObject): Promise<readonly string[]> {
  const { kind, revision, object } = item as unknown as PackageObject;
  const name = textAt(object, 'metadata', 'name') ?? '';
  const resource = await resourceOf(reader, object);
  const live = resource === undefined ? undefined : await find(reader, { resource, name });
  const what = `${textAt(object, 'kind')} ${name}`;
  if (live === undefined) return [`${what} is gone`];
  const owner = await findMetadata(reader, { resource: revisionsOfKind(kind), name: revision });
  const controlled =
    textAt(controllerOf(live), 'uid') === textAt(owner, 'metadata', 'uid') ? [] : [`${what}: not controlled by ${revision}`];
  const isReady = textAt(object, 'kind') !== 'CustomResourceDefinition' || isEstablished(live);
  return isReady ? controlled : [...controlled, `${what}: not Established, or its names are not accepted`];
}

function isEstablished(live: JsonObject): boolean {
  const all = listAt(live, 'status', 'conditions');
  return ['Established', 'NamesAccepted'].every((type) =>
    all.some((one) => textAt(one, 'type') === type && textAt(one, 'status') === 'True'),
  );
}
