// A last look before the Lock is written: packages at their version, revisions Active, objects controlled by them, CRDs Established
// with their names accepted.
import { at, isList, type Json, type JsonObject, textAt } from '../../objects/json.ts';
import { foreign } from '../../objects/words.ts';
import type { PackageTransaction } from '../model/package-transaction.ts';
import type { Stage } from '../model/status.ts';
import { type ChangedPackage, controllerUid, type Member } from '../plan/changes.ts';
import { readContents } from '../plan/contents.ts';
import { configMaps, packagesOfKind, revisionsOfKind } from '../plan/resources.ts';
import { resourceOf } from './members.ts';
import { lookAtAll, type Progress } from './progress.ts';
import { find, findMetadata, type Looker } from './reading.ts';

/** What is not as it was made, in words. */
export async function readVerification(
  looker: Looker,
  { status }: PackageTransaction,
  progress: Progress,
): Promise<readonly string[] | 'unfinished'> {
  const faults: string[] = [];
  for (const stage of status.stages.filter(({ purpose }) => looks[purpose] !== undefined)) {
    const found = await lookAtStage(looker, stage, progress);
    if (found === 'unfinished') return faults.length > 0 ? faults : found;
    faults.push(...found);
  }
  return faults;
}

const looks: Readonly<Partial<Record<Stage['purpose'], typeof ofMember>>> = {
  Packages: ofPackage,
  Objects: ofMember,
  Activation: ofRevision,
};

async function lookAtStage(looker: Looker, stage: Stage, progress: Progress): Promise<readonly string[] | 'unfinished'> {
  const [items, look] = [await itemsOf(looker, stage), looks[stage.purpose]];
  if (items === undefined || look === undefined) return [`the contents of ${stage.name} are not those that were stored`];
  return lookAtAll(
    items,
    (item) => nameOf(stage, item),
    (item) => look(looker, item),
    progress,
  );
}

function nameOf({ name }: Stage, { object, revision = null }: JsonObject): string {
  return `${name} ${textAt(object, 'kind')} ${textAt(object, 'metadata', 'name')} ${revision}`;
}

async function itemsOf(looker: Looker, stage: Stage): Promise<readonly JsonObject[] | undefined> {
  const contents = await find(looker, { resource: configMaps, namespace: looker.namespace, name: stage.name });
  return contents === undefined ? undefined : readContents(contents, stage.digest, looker.gzip);
}

async function ofPackage(looker: Looker, item: JsonObject): Promise<readonly string[]> {
  const { kind, name, package: expected } = item as unknown as ChangedPackage;
  const live = await find(looker, { resource: packagesOfKind(kind), name });
  const found = live === undefined ? 'no such object' : (textAt(live, 'spec', 'package') ?? 'none');
  return found === expected ? [] : [`${kind} ${name}: expected package ${expected}, found ${foreign(found, longestWords)}`];
}

const longestWords = 300;

async function ofRevision(looker: Looker, item: JsonObject): Promise<readonly string[]> {
  const { kind, revision } = item as unknown as ChangedPackage;
  const live = await find(looker, { resource: revisionsOfKind(kind), name: revision });
  const found = live === undefined ? 'nothing' : (textAt(live, 'spec', 'desiredState') ?? 'no state');
  return found === 'Active' ? [] : [`${kind}Revision ${revision}: expected it to be Active, found ${found}`];
}

async function ofMember(looker: Looker, item: JsonObject): Promise<readonly string[]> {
  const { kind, revision, object } = item as unknown as Member;
  const name = textAt(object, 'metadata', 'name') ?? '';
  const resource = await resourceOf(looker, object);
  const live = resource === undefined ? undefined : await find(looker, { resource, name });
  const what = `${textAt(object, 'kind')} ${name}`;
  if (live === undefined) return [`${what} is gone`];
  const owner = await findMetadata(looker, { resource: revisionsOfKind(kind), name: revision });
  const controlled = controllerUid(live) === textAt(owner, 'metadata', 'uid') ? [] : [`${what}: not controlled by ${revision}`];
  const isReady = textAt(object, 'kind') !== 'CustomResourceDefinition' || isEstablished(live);
  return isReady ? controlled : [...controlled, `${what}: not Established, or its names are not accepted`];
}

function isEstablished(live: JsonObject): boolean {
  const conditions = at(live, 'status', 'conditions');
  const all: readonly Json[] = isList(conditions) ? conditions : [];
  return ['Established', 'NamesAccepted'].every((type) =>
    all.some((one) => textAt(one, 'type') === type && textAt(one, 'status') === 'True'),
  );
}
