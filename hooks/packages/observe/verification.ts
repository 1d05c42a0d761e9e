// A last look before the Lock is written: packages at their version, revisions Active, objects controlled by them, CRDs Established
// with their names accepted.
import { type JsonObject, listAt, textAt } from '../../objects/json.ts';
import { foreign } from '../../objects/words.ts';
import { controllerOf } from '../checks/conflicts.ts';
import type { PackageTransaction } from '../model/package-transaction.ts';
import type { Stage } from '../model/status.ts';
import type { ChangedPackage, PackageObject } from '../writes/changes.ts';
import { readContents } from '../writes/contents.ts';
import { configMaps, packagesOfKind, revisionsOfKind } from '../writes/resources.ts';
import { resourceOf } from './objects.ts';
import { checkAll, type Progress } from './progress.ts';
import { find, findMetadata, type PackageReader } from './read.ts';

/** What is not as it was made, in words. */
export async function readVerification(
  reader: PackageReader,
  { status }: PackageTransaction,
  progress: Progress,
): Promise<readonly string[] | 'unfinished'> {
  const faults: string[] = [];
  for (const stage of status.stages.filter(({ purpose }) => looks[purpose] !== undefined)) {
    const found = await lookAtStage(reader, stage, progress);
    if (found === 'unfinished') return faults.length > 0 ? faults : found;
    faults.push(...found);
  }
  return faults;
}

const looks: Readonly<Partial<Record<Stage['purpose'], typeof ofObject>>> = {
  Packages: ofPackage,
  Objects: ofObject,
  Activation: ofRevision,
};

async function lookAtStage(reader: PackageReader, stage: Stage, progress: Progress): Promise<readonly string[] | 'unfinished'> {
  const [items, look] = [await itemsOf(reader, stage), looks[stage.purpose]];
  if (items === undefined || look === undefined) return [`the contents of ${stage.name} are not those that were stored`];
  return checkAll(
    items,
    (item) => nameOf(stage, item),
    (item) => look(reader, item),
    progress,
  );
}

function nameOf({ name }: Stage, { object, revision = null }: JsonObject): string {
  return `${name} ${textAt(object, 'kind')} ${textAt(object, 'metadata', 'name')} ${revision}`;
}

async function itemsOf(reader: PackageReader, stage: Stage): Promise<readonly JsonObject[] | undefined> {
  const contents = await find(reader, { resource: configMaps, namespace: reader.namespace, name: stage.name });
  return contents === undefined ? undefined : readContents(contents, stage.digest, reader.gzip);
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
