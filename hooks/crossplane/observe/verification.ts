// A last check before the hook writes the Lock: packages are at their version, revisions are Active and control their objects. CRDs
// are Established, and the API server has accepted their names.
import { at, equalJson, type Json, type JsonObject, listAt, objectAt, objectsAt, textAt } from '../../objects/json.ts';
import { foreign } from '../../objects/words.ts';
import { controllerOf } from '../checks/conflicts.ts';
import { isConverted } from '../checks/contents.ts';
import { packageLabel } from '../model/names.ts';
import { isActive, packageApiVersion } from '../model/package.ts';
import { replacedBy } from '../model/package-transaction.ts';
import type { Stage } from '../model/status.ts';
import { isPaused, pausedAnnotation, pauserOf } from '../writes/beside.ts';
import type { ChangedPackage, PackageObject } from '../writes/changes.ts';
import { definitions, nameLabel, packagesOfKind, revisionsOfKind, stages } from '../writes/resources.ts';
import { authorityOf, serverSecret } from '../writes/webhooks.ts';
import { unreadable } from './instances.ts';
import { readStage, resourceOf } from './objects.ts';
import type { Context, WebhookSecret } from './observation.ts';
import { managedDefinition } from './pauses.ts';
import { checkAll, type Progress, soFar } from './progress.ts';
import { createFinder, find, findMetadata, list, type PackageReader, served } from './read.ts';

interface Verification {
  /** Objects that are not as the stages made them, in words. */
  readonly faults: readonly string[] | 'unfinished';
  readonly unserved: readonly WebhookSecret[];
}

interface Verifying {
  readonly reader: PackageReader;
  readonly context: Pick<Context, 'ptx' | 'isBeside' | 'crossplaneNamespace'>;
  /** The changes of the stage that is checked, if they are not those of its contents. */
  readonly changes: readonly Json[];
  /** Reads each revision once. */
  readonly findOnce: ReturnType<typeof createFinder>;
  /** The CRDs with the label of the package transaction, without their schemas. */
  readonly definitions: ReadonlyMap<string, JsonObject>;
}

export async function readVerification(
  reader: PackageReader,
  context: Verifying['context'],
  progress: Progress,
): Promise<Verification> {
  const found: Found[] = [];
  const read = { reader, context, findOnce: createFinder(reader), definitions: await definitionsOf(reader, context) };
  const checks = context.isBeside === true ? checksBeside : checksAlone;
  for (const stage of context.ptx.status.stages) {
    const check = checks[stage.purpose];
    const more = check === undefined ? [] : await checkStage({ ...read, changes: [] }, stage, { check, progress });
    if (more === 'unfinished') return { faults: soFar(found.filter(isFault)), unserved: [] };
    found.push(...more);
  }
  return { faults: found.filter(isFault), unserved: found.filter((one): one is WebhookSecret => !isFault(one)) };
}

/** A few lists of many CRDs, in place of a read of each. */
async function definitionsOf(reader: PackageReader, { ptx }: Verifying['context']): Promise<ReadonlyMap<string, JsonObject>> {
  if (!ptx.status.stages.some(({ purpose }) => purpose === 'Objects')) return new Map();
  const labelSelector = `${nameLabel}=${ptx.name}`;
  const found = await list(reader, definitions, undefined, { labelSelector, whole: true, keep: withoutSchemas });
  return new Map(found.map((one) => [textAt(one, 'metadata', 'name') ?? '', one]));
}

function withoutSchemas(definition: JsonObject): JsonObject {
  const [name, ownerReferences] = ['name', 'ownerReferences'].map((key) => at(definition, 'metadata', key) ?? null);
  const versions = objectsAt(definition, 'spec', 'versions').map(({ schema: _, ...version }) => version);
  return {
    metadata: { name: name ?? null, ownerReferences: ownerReferences ?? [] },
    spec: { ...objectAt(definition, 'spec'), versions },
    status: { conditions: listAt(definition, 'status', 'conditions') },
  };
}

/** A fault in words, or a CRD that Crossplane must complete. */
type Found = string | WebhookSecret;

function isFault(found: Found): found is string {
  return typeof found === 'string';
}

type Check = (verifying: Verifying, item: JsonObject) => Promise<readonly Found[]>;

type Checks = Readonly<Partial<Record<Stage['purpose'], Check>>>;

const checksAlone: Checks = {
  Packages: ofPackage,
  Revisions: ofWritten,
  Objects: ofObject,
  Deactivation: ofDeactivated,
  Activation: ofRevision,
};

const checksBeside: Checks = { ...checksAlone, Packages: ofPausedPackage, Pauses: ofPause, Objects: ofServedObject };

async function checkStage(
  verifying: Verifying,
  stage: Stage,
  { check, progress }: { readonly check: Check; readonly progress: Progress },
): Promise<readonly Found[] | 'unfinished'> {
  const { reader } = verifying;
  const items = await readStage(reader, stage);
  if (items === undefined) return [`the contents of ${stage.name} are not those that were stored`];
  const made =
    stage.purpose === 'Revisions'
      ? await find(reader, { resource: stages, namespace: reader.namespace, name: stage.name })
      : undefined;
  const nameOf = ({ object, target, revision = null, ...item }: JsonObject): string => {
    const kind = textAt(object, 'kind') ?? textAt(target, 'kind') ?? textAt(item, 'kind');
    const name = textAt(object, 'metadata', 'name') ?? textAt(target, 'name') ?? textAt(item, 'name');
    return `${stage.name} ${kind} ${name} ${revision}`;
  };
  return checkAll(items, nameOf, (item) => check({ ...verifying, changes: listAt(made, 'spec', 'changes') }, item), progress);
}

async function ofPackage({ reader }: Verifying, item: JsonObject): Promise<readonly Found[]> {
  const { kind, name, package: expected } = item as unknown as ChangedPackage;
  const live = await find(reader, { resource: packagesOfKind(kind), name });
  const found = live === undefined ? 'no such object' : (textAt(live, 'spec', 'package') ?? 'none');
  if (found === expected) return [];
  const next = 'another writer has changed it during the install: let that writer write the expected package';
  return [`${kind} ${name}: expected package ${expected}, found ${foreign(found, longestWords)}: ${next}`];
}

/** Crossplane's package manager would write the Lock. */
async function ofPausedPackage(verifying: Verifying, item: JsonObject): Promise<readonly Found[]> {
  const { kind, name } = item as unknown as ChangedPackage;
  const live = await find(verifying.reader, { resource: packagesOfKind(kind), name });
  return live === undefined || isPaused(live) ? ofPackage(verifying, item) : [unpaused(`${kind} ${name}`, live)];
}

/** Crossplane would end the revision that leaves, or write a CRD back. Once it has the new revision, it writes the definition. */
async function ofPause({ reader, context }: Verifying, { target }: JsonObject): Promise<readonly string[]> {
  const [kind, name] = [textAt(target, 'kind') ?? '', textAt(target, 'name') ?? ''];
  if (kind === managedDefinition.kind && context.ptx.status.handOverTime !== undefined) return [];
  const resource = await resourceOf(reader, { apiVersion: textAt(target, 'apiVersion') ?? '', kind });
  const live = resource === undefined ? undefined : await findMetadata(reader, { resource, name });
  return live === undefined || isPaused(live) ? [] : [unpaused(`${kind} ${name}`, live)];
}

function unpaused(name: string, live: JsonObject): string {
  const what = `${name}: expected the annotation ${pausedAnnotation}=true, which it had`;
  const writer = managerOf(live, 'f:metadata', 'f:annotations', `f:${pausedAnnotation}`);
  if (writer === undefined) return `${what}; somebody has removed it, and managedFields do not show who`;
  return `${what}; ${foreign(writer, longestWords)} has written another value`;
}

/** The field manager that has written the field; undefined if the object does not have it. */
function managerOf(live: JsonObject, ...path: readonly string[]): string | undefined {
  const entries = objectsAt(live, 'metadata', 'managedFields');
  const writer = entries.find((entry) => at(entry, 'fieldsV1', ...path) !== undefined);
  return textAt(writer, 'manager');
}

const longestWords = 300;

/** Whether the revision is as the stage has written it. A policy may have changed what the stage wrote, and is no writer. */
async function ofWritten({ reader, context, changes }: Verifying, item: JsonObject): Promise<readonly string[]> {
  const { kind, revision } = item as unknown as ChangedPackage;
  const [live, change] = [
    await find(reader, { resource: revisionsOfKind(kind), name: revision }),
    changes.find((one) => textAt(one, 'target', 'name') === revision),
  ];
  if (live === undefined) return [];
  const what = `${kind}Revision ${revision}`;
  const wasPaused = textAt(change, 'content', 'metadata', 'annotations', pausedAnnotation) === 'true';
  const isHeld = wasPaused && context.isBeside === true && context.ptx.status.handOverTime === undefined;
  const edits = Object.entries(objectAt(change, 'content', 'spec')).flatMap(([field, expected]) => {
    const [found, writer] = [at(live, 'spec', field), managerOf(live, 'f:spec', `f:${field}`)];
    const isEdited = field !== 'desiredState' && !equalJson(found, expected) && isOfOthers(writer);
    return isEdited
      ? [`${what}: expected spec.${field} ${shown(expected)}, found ${shown(found)}, written by ${foreign(writer, longestWords)}`]
      : [];
  });
  return isHeld && !isPaused(live) ? [unpaused(what, live), ...edits] : edits;
}

function shown(value: Json | undefined): string {
  return foreign(JSON.stringify(value) ?? 'none', longestWords);
}

/** Whether it is another writer than the stages of a package transaction. */
function isOfOthers(manager: string | undefined): manager is string {
  return manager !== undefined && !manager.startsWith('janus-ptx-');
}

async function ofRevision({ reader }: Verifying, item: JsonObject): Promise<readonly string[]> {
  const { kind, revision } = item as unknown as ChangedPackage;
  const live = await find(reader, { resource: revisionsOfKind(kind), name: revision });
  const what = `${kind}Revision ${revision}: expected it to be Active, found`;
  if (live === undefined) return [`${what} no such object: somebody has deleted it`];
  const found = textAt(live, 'spec', 'desiredState') ?? 'no state';
  const writer = managerOf(live, 'f:spec', 'f:desiredState');
  if (found === 'Active') return [];
  return [`${what} ${foreign(found, longestWords)}${isOfOthers(writer) ? `, written by ${foreign(writer, longestWords)}` : ''}`];
}

/** A revision that leaves must not reconcile what the new one reconciles. */
async function ofDeactivated({ reader }: Verifying, item: JsonObject): Promise<readonly string[]> {
  const [kind, name] = [textAt(item, 'kind') ?? '', textAt(item, 'name') ?? ''];
  const resource = await served(reader, packageApiVersion, kind);
  const live = resource === undefined ? undefined : await find(reader, { resource, name });
  if (!isActive(live)) return [];
  const writer = managerOf(live ?? {}, 'f:spec', 'f:desiredState');
  const by = isOfOthers(writer) ? `, written by ${foreign(writer, longestWords)}` : '';
  return [`${kind} ${name}: expected it to be Inactive, found Active${by}`];
}

/** Crossplane starts the server of a new package. Until it answers, the instances cannot be read, which is no fault. */
async function ofServedObject(verifying: Verifying, item: JsonObject): Promise<readonly Found[]> {
  const one = item as unknown as PackageObject;
  if (!isConverted(one.object)) return ofObject(verifying, item);
  const { faults, live } = await madeOf(verifying, item);
  if (faults.length > 0 || live === undefined) return faults;
  const definition = textAt(live, 'metadata', 'name') ?? '';
  const missing = authorityOf(live) === undefined ? await unserved(verifying, one, definition) : [];
  if (missing.length > 0 || !areToRead(verifying.context)) return missing;
  const secret = secretOf(verifying, one);
  return (await unreadable(verifying.reader, live)).map((unread) => ({ definition, secret, unread }));
}

/**
 * On an update the former revision of the package has run: Crossplane has the Secret, and writes the authority once it runs the new
 * revision.
 */
async function unserved(verifying: Verifying, one: PackageObject, definition: string): Promise<readonly WebhookSecret[]> {
  const { reader, context } = verifying;
  const { kind, name, revision } = one;
  const resource = revisionsOfKind(kind);
  const all = await list(reader, resource, undefined, { labelSelector: `${packageLabel}=${name}`, whole: true });
  const live = all.find((one) => textAt(one, 'metadata', 'name') === revision);
  if (live === undefined || all.length > 1) return [];
  const isHeld = isPaused(live) && pauserOf(live) === context.ptx.uid;
  return [{ definition, secret: secretOf(verifying, one), ...(isHeld ? { paused: { resource, live } } : {}) }];
}

function secretOf({ context }: Verifying, { name }: PackageObject): string {
  return `${context.crossplaneNamespace}/${serverSecret(name)}`;
}

async function ofObject(verifying: Verifying, item: JsonObject): Promise<readonly string[]> {
  const { faults, live } = await madeOf(verifying, item);
  const isRead = textAt(item, 'object', 'kind') === definitions.kind && areToRead(verifying.context);
  return faults.length > 0 || live === undefined || !isRead ? faults : unreadable(verifying.reader, live);
}

interface Made {
  readonly faults: readonly string[];
  readonly live: JsonObject | undefined;
}

async function madeOf({ reader, findOnce, definitions: known }: Verifying, item: JsonObject): Promise<Made> {
  const { kind, revision, object } = item as unknown as PackageObject;
  const name = textAt(object, 'metadata', 'name') ?? '';
  const resource = await resourceOf(reader, object);
  const listed = resource === definitions ? known.get(name) : undefined;
  const live = listed ?? (resource === undefined ? undefined : await find(reader, { resource, name }));
  const what = `${textAt(object, 'kind')} ${name}`;
  if (live === undefined) return { faults: [`${what} is gone`], live };
  const owner = await findOnce({ resource: revisionsOfKind(kind), name: revision });
  const controlled =
    textAt(controllerOf(live), 'uid') === textAt(owner, 'metadata', 'uid') ? [] : [`${what}: not controlled by ${revision}`];
  const isServed = textAt(object, 'kind') !== definitions.kind || isEstablished(live);
  const unestablished = isServed ? [] : [`${what}: not Established, or its names are not accepted`];
  return { faults: [...controlled, ...unestablished], live };
}

/** Whether instances can be read after a Replace. Beside Crossplane, webhooks convert them once it has the new revision. */
function areToRead({ ptx, isBeside = false }: Verifying['context']): boolean {
  return replacedBy(ptx) !== undefined && (!isBeside || ptx.status.handOverTime !== undefined);
}

function isEstablished(live: JsonObject): boolean {
  const all = listAt(live, 'status', 'conditions');
  return ['Established', 'NamesAccepted'].every((type) =>
    all.some((one) => textAt(one, 'type') === type && textAt(one, 'status') === 'True'),
  );
}
