// The changes of a stage, as the engine reads them.
import { at, equalJson, type Json, type JsonObject, objectAt, textAt, withPath } from '../../objects/json.ts';
import { controllerOf } from '../checks/conflicts.ts';
import { installable, isConverted } from '../checks/contents.ts';
import type { AppliedImageConfigs } from '../model/image-config.ts';
import { packageLabel } from '../model/names.ts';
import { optedIn } from '../model/own.ts';
import { isActive, type PackageKind, packageApiVersion } from '../model/package.ts';
import type { Wanted } from '../model/package-transaction.ts';
import { readReference } from '../model/reference.ts';
import { awaitsActivation, besideSettings, pausedForGood, pausedUntilActive, pausedUntilLocked } from './beside.ts';
import type { Changed } from './changed.ts';
import { annotationsOf, labelsOf, type Maker, ownersOf } from './owners.ts';
import { chosenAnnotation, familyLabel, imageConfigsAnnotation, nameLabel, revisionLabel } from './resources.ts';
import { convertedBy, type WebhookService } from './webhooks.ts';

/** A package, with the part of its meta that describes its revision. */
export interface ChangedPackage extends Changed {
  readonly family?: string;
  readonly imageConfigs: AppliedImageConfigs;
}

/** An object of a package. */
export interface PackageObject {
  readonly kind: PackageKind;
  /** The name of the package object. */
  readonly name: string;
  readonly revision: string;
  readonly object: JsonObject;
}

function change(object: JsonObject, live: JsonObject | undefined): JsonObject {
  const target = {
    apiVersion: textAt(object, 'apiVersion') ?? '',
    kind: textAt(object, 'kind') ?? '',
    name: textAt(object, 'metadata', 'name') ?? '',
  };
  return { target, type: live === undefined ? 'Create' : 'Update', content: object };
}

/** The package transaction, the settings of the hook, and who serves the webhooks. */
export interface Making extends Maker {
  /** The uid of the Package that made the package transaction. */
  readonly packageUid?: string | undefined;
  /** Crossplane runs what it installs. */
  readonly isBeside?: boolean;
  /** The Packages that it makes make their own package transactions. */
  readonly isOwn?: boolean;
  /** False if a user makes its revision Active. */
  readonly isActivated?: boolean;
  readonly servers?: WebhookService | undefined;
}

/** The package object. A required package keeps its spec, except for its version. */
export function packageChange(one: Changed, wanted: Wanted, live: JsonObject | undefined, maker: Making): JsonObject {
  const paused = maker.isBeside ? pausedForGood : {};
  if (one.isRoot && maker.packageUid !== undefined) return markChange(one, paused, maker);
  const opting = maker.isOwn && live === undefined ? optedIn : {};
  const spec = one.isRoot ? wanted.spec : { ...objectAt(live, 'spec'), package: one.package };
  const labels = labelsOf(live, one.isRoot ? wanted.labels : {}, maker);
  const metadata = { name: one.name, labels, ...annotations(live, { ...paused, ...opting, ...chosenFor(one, live) }) };
  return change({ apiVersion: packageApiVersion, kind: one.kind, metadata, spec }, live);
}

/** A user who names a package transaction's package has chosen its version. */
function chosenFor({ isRoot, package: reference }: Changed, live: JsonObject | undefined): JsonObject {
  const isKnown = textAt(live, 'metadata', 'annotations', chosenAnnotation) !== undefined;
  if (isRoot) return isKnown ? { [chosenAnnotation]: '' } : {};
  return { [chosenAnnotation]: readReference(reference)?.version ?? '' };
}

/** The Package has made the package transaction. Its spec is the user's, and the user may change it at any time. */
function markChange({ kind, name }: Changed, annotations: JsonObject, maker: Maker): JsonObject {
  const metadata = { labels: { [nameLabel]: maker.name }, ...(Object.keys(annotations).length > 0 ? { annotations } : {}) };
  return { target: { apiVersion: packageApiVersion, kind, name }, type: 'Patch', content: { metadata } };
}

function annotations(live: JsonObject | undefined, wanted: Json | undefined): JsonObject {
  const all = annotationsOf(live, wanted);
  return Object.keys(all).length > 0 ? { annotations: all } : {};
}

const copied = [
  'packagePullPolicy',
  'packagePullSecrets',
  'ignoreCrossplaneConstraints',
  'skipDependencyResolution',
  'commonLabels',
  'commonAnnotations',
];

/** The objects that a revision is made from. */
interface RevisionGround {
  /** The package object. */
  readonly owner: JsonObject;
  /** The live revision of that name. */
  readonly live: JsonObject | undefined;
  /** All revisions of the package. */
  readonly revisions: readonly JsonObject[];
}

/** The revision, Inactive. If it is Active already, it stays Active. */
export function revisionChange(one: ChangedPackage, ground: RevisionGround, maker: Making): JsonObject {
  const { owner, live } = ground;
  const family = one.family === undefined ? {} : { [familyLabel]: one.family };
  const uid = textAt(owner, 'metadata', 'uid') ?? '';
  const reference = { apiVersion: packageApiVersion, kind: one.kind, name: one.name, uid };
  const runs = maker.isBeside === true && isActive(live) && !awaitsActivation(live);
  const held = maker.isBeside === true && !runs ? pauseOf(maker) : {};
  const metadata = {
    name: one.revision,
    labels: labelsOf(live, { [packageLabel]: one.name, ...family }, maker),
    ...annotations(live, { ...held, ...appliedTo(one, runs && isAdopted(live)) }),
    ownerReferences: ownersOf(live, maker, { reference, controls: runs && textAt(controllerOf(live), 'uid') === uid }),
  };
  const spec = runs ? runningSpec(one, ground, maker) : revisionSpec(one, ground, maker);
  return change({ apiVersion: packageApiVersion, kind: `${one.kind}Revision`, metadata, spec }, live);
}

function pauseOf(maker: Making): JsonObject {
  return maker.isActivated === false ? pausedUntilActive : pausedUntilLocked(maker);
}

/** Whether Crossplane has installed the revision, and no package transaction has changed it. */
function isAdopted(live: JsonObject | undefined): boolean {
  return textAt(live, 'metadata', 'labels', nameLabel) === undefined;
}

/** For the status of the Package: Crossplane's package manager, which would write it there, is paused. */
function appliedTo({ imageConfigs }: ChangedPackage, isCrossplanes: boolean): JsonObject {
  return isCrossplanes ? {} : { [imageConfigsAnnotation]: JSON.stringify(imageConfigs) };
}

function revisionSpec(one: ChangedPackage, { owner, live, revisions }: RevisionGround, maker: Making): JsonObject {
  const numbers = revisions.map((revision) => at(revision, 'spec', 'revision'));
  const highest = Math.max(0, ...numbers.filter((number) => typeof number === 'number'));
  const own = at(live, 'spec', 'revision');
  return {
    ...objectAt(live, 'spec'),
    ...Object.fromEntries(settingsOf(one.kind, owner)),
    ...(maker.isBeside === true ? besideSettings(one, owner, maker) : {}),
    desiredState: isActive(live) ? 'Active' : 'Inactive',
    image: `${one.source}@${one.digest}`,
    revision: isActive(live) && typeof own === 'number' ? own : highest + 1,
  };
}

/** What a revision takes from the spec of its package. */
function settingsOf(kind: PackageKind, owner: JsonObject): readonly (readonly [key: string, value: Json])[] {
  return [...copied, ...(kind === 'Configuration' ? [] : ['runtimeConfigRef'])].flatMap((key) => {
    const value = at(owner, 'spec', key);
    return value === undefined ? [] : [[key, value] as const];
  });
}

/** Whether the revision has the settings of its package. Beside Crossplane it has others of its own. */
export function hasSettings(kind: PackageKind, owner: JsonObject, revision: JsonObject, isBeside: boolean): boolean {
  return settingsOf(kind, owner).every(([key, value]) => {
    const found = at(revision, 'spec', key);
    if (isBeside && key === 'skipDependencyResolution') return true;
    if (isBeside && key === 'commonLabels')
      return Object.entries(objectAt(value)).every(([name, one]) => at(found, name) === one);
    return equalJson(found, value);
  });
}

/**
 * Crossplane runs the revision: it keeps the name of its image, or it would start again. If Crossplane has installed it, nothing of
 * its spec changes.
 */
function runningSpec(one: ChangedPackage, ground: RevisionGround, maker: Making): JsonObject {
  const { live } = ground;
  const spec = objectAt(live, 'spec');
  return isAdopted(live) ? spec : { ...revisionSpec(one, ground, maker), image: at(spec, 'image') ?? null };
}

/**
 * The object as the hook makes it, with the common labels and annotations of its revision. For the dry run the revision has no uid,
 * because it does not exist yet, and the object has no owner.
 */
export function installedObject(
  { kind, name, revision, object }: PackageObject,
  live: JsonObject | undefined,
  maker: Making,
  owner: JsonObject,
): JsonObject {
  const given = objectAt(object, 'metadata');
  const uid = textAt(owner, 'metadata', 'uid');
  const reference = { apiVersion: packageApiVersion, kind: `${kind}Revision`, name: revision, uid: uid ?? '' };
  const owners = uid === undefined ? {} : { ownerReferences: ownersOf(live, maker, { reference, controls: true }) };
  const common = (key: string): JsonObject => objectAt(owner, 'spec', key);
  const metadata = {
    name: textAt(given, 'name') ?? '',
    labels: labelsOf(live, { ...objectAt(given, 'labels'), ...common('commonLabels'), [revisionLabel]: revision }, maker),
    ...annotations(live, { ...objectAt(given, 'annotations'), ...common('commonAnnotations') }),
    ...owners,
  };
  return { ...convertedBy({ name, object: keptActive(installable(object), live), live }, maker.servers), metadata };
}

/** Whether the result depends on the spec of the live object. */
export function dependsOnSpec(object: JsonObject): boolean {
  return keepsState(object) || isConverted(object);
}

function keepsState(object: JsonObject): boolean {
  return textAt(object, 'kind') === 'ManagedResourceDefinition';
}

/**
 * An Active ManagedResourceDefinition cannot become Inactive again. Inactive is the default, and other writers have activated it.
 */
function keptActive(object: JsonObject, live: JsonObject | undefined): JsonObject {
  const isActive = keepsState(object) && textAt(live, 'spec', 'state') === 'Active';
  return isActive ? withPath(object, ['spec', 'state'], 'Active') : object;
}

/** `owner`: the live revision. */
export function objectChange(one: PackageObject, live: JsonObject | undefined, maker: Making, owner: JsonObject): JsonObject {
  const made = change(installedObject(one, live, maker, owner), live);
  // Users can make instances of a kind once it is established. The stage waits for all kinds at once.
  return textAt(one.object, 'kind') === 'CustomResourceDefinition' ? { ...made, gate: { at: 'AtEnd' } } : made;
}

/** An object that a revision controls, and that the new version of its package leaves out. */
export interface Released {
  readonly target: JsonObject;
  /** The reference to that revision. */
  readonly owner: JsonObject;
}

/** The revision stays an owner, and controls the object no more: another package may take the object. */
export function releaseChange({ target, owner }: Released): JsonObject {
  return { target, type: 'Patch', content: { metadata: { ownerReferences: [{ ...owner, controller: false }] } } };
}

/**
 * `leaving`: Active revisions of the package. The stage activates the new revision before it deactivates them, because the new
 * revision controls the objects already.
 */
export function activationChanges({ kind, revision }: Changed, leaving: readonly string[]): readonly JsonObject[] {
  const ofKind = `${kind}Revision`;
  return [stateChange(ofKind, revision, 'Active'), ...leaving.map((name) => stateChange(ofKind, name, 'Inactive'))];
}

/** Makes a revision Active or Inactive. */
export function stateChange(kind: string, name: string, desiredState: 'Active' | 'Inactive'): JsonObject {
  return { target: { apiVersion: packageApiVersion, kind, name }, type: 'Patch', content: { spec: { desiredState } } };
}

/** Makes a package object Manual. The label says which package transaction did so. */
export function manualChange(kind: string, name: string, maker: Maker): JsonObject {
  const content = { metadata: { labels: { [nameLabel]: maker.name } }, spec: { revisionActivationPolicy: 'Manual' } };
  return { target: { apiVersion: packageApiVersion, kind, name }, type: 'Patch', content };
}
