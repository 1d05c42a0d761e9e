// A last check before the hook writes the Lock: packages are at their version, revisions are Active and control their objects. CRDs
// are Established, and the API server has accepted their names.
import { type JsonObject, listAt, textAt } from '../../objects/json.ts';
import { foreign } from '../../objects/words.ts';
import { controllerOf } from '../checks/conflicts.ts';
import type { PackageTransaction } from '../model/package-transaction.ts';
import type { Stage } from '../model/status.ts';
import type { ChangedPackage, PackageObject } from '../writes/changes.ts';
import { packagesOfKind, revisionsOfKind } from '../writes/resources.ts';
import { readStage, resourceOf } from './objects.ts';
import { checkAll, type Progress, soFar } from './progress.ts';
import { find, findMetadata, type PackageReader } from './read.ts';

/** Objects that are not as the stages made them, in words. */
export async function readVerification(
  reader: PackageReader,
  { status }: PackageTransaction,
  progress: Progress,
): Promise<readonly string[] | 'unfinished'> {
  const faults: string[] = [];
  for (const stage of status.stages.filter(({ purpose }) => checks[purpose] !== undefined)) {
    const found = await checkStage(reader, stage, progress);
    if (found === 'unfinished') return soFar(faults);
    faults.push(...found);
  }
  return faults;
}

const checks: Readonly<Partial<Record<Stage['purpose'], typeof ofObject>>> = {
  Packages: ofPackage,
  Objects: ofObject,
  Activation: ofRevision,
};

async function checkStage(reader: PackageReader, stage: Stage, progress: Progress): Promise<readonly string[] | 'unfinished'> {
  const [items, check] = [await readStage(reader, stage), checks[stage.purpose]];
  if (items === undefined || check === undefined) return [`the contents of ${stage.name} are not those that were stored`];
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
