// A package transaction, as it is stored.
import { at, type JsonObject, objectAt, textAt } from '../../objects/json.ts';
import { digestOf } from './digest.ts';
import { packageUidLabel } from './own.ts';
import { kindOf, type PackageKind, packageApiVersion, packageKinds, quoted } from './package.ts';
import { type PackageReference, readReference, readSource } from './reference.ts';
import { isKnown, millisecondsOf, readStatus, type Status } from './status.ts';

/** The package to install. */
export interface Wanted {
  readonly kind: PackageKind;
  readonly name: string;
  /** If given, the live package object must have it. */
  readonly uid: string | undefined;
  readonly labels: JsonObject;
  readonly spec: JsonObject;
  readonly reference: PackageReference;
  /** The source of the installed package that leaves, with its tree. Undefined unless the change is Replace. */
  readonly replaces?: string;
}

/** The package to delete. */
export interface Deletion {
  /** Registry and repository. */
  readonly source: string;
}

export interface PackageTransaction {
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  /** In ms since the epoch. */
  readonly createdAt: number;
  readonly isDeleting: boolean;
  readonly annotations: JsonObject;
  /** The uid of the Package that made the package transaction. Undefined if somebody else made it. */
  readonly packageUid: string | undefined;
  /** The package to install or to delete, or why the spec is not valid, in words. */
  readonly wanted: Wanted | Deletion | string;
  /** Nothing is installed or deleted: the status gets the plan. */
  readonly isDryRun: boolean;
  readonly specDigest: string;
  readonly retryLimit: number;
  readonly status: Status;
  /** False if a newer version of the hook has written the status: then this version decides nothing from it. */
  readonly isKnown: boolean;
}

export const allowIrreversible = 'pkg.crossplane.io/allow-irreversible';

/** How a user allows a change that cannot be undone. A Package hands its annotation to the package transactions that it makes. */
export function howToAllow({ name, wanted, packageUid }: Allowed & Pick<PackageTransaction, 'name' | 'packageUid'>): string {
  const install = installOf({ wanted });
  const isOwn = packageUid !== undefined && install !== undefined;
  const what = isOwn ? `${install.kind} ${install.name}` : `package transaction ${name}`;
  return `annotate ${what} with ${allowIrreversible}=${install?.reference.version ?? 'true'} to allow it`;
}

type Allowed = Pick<PackageTransaction, 'wanted'>;

/** Whether the annotation allows the version that is installed, or every version. */
export function mayBreak({ annotations, wanted }: Allowed & Pick<PackageTransaction, 'annotations'>): boolean {
  const allowed = annotations[allowIrreversible];
  return allowed === 'true' || (allowed !== undefined && allowed === installOf({ wanted })?.reference.version);
}

const keepsDefinitions = 'pkg.crossplane.io/keep-crds';

/** Whether a Delete leaves the objects of the package, without owners. The annotation may be on the package, too. */
export function keepsObjects(object: { readonly annotations: JsonObject }): boolean {
  return object.annotations[keepsDefinitions] === 'true';
}

/** Undefined unless the package transaction installs a package, also in the place of another one. */
export function installOf({ wanted }: Pick<PackageTransaction, 'wanted'>): Wanted | undefined {
  return typeof wanted === 'string' || !('reference' in wanted) ? undefined : wanted;
}

/** Undefined unless the package transaction deletes. */
export function deletionOf({ wanted }: Pick<PackageTransaction, 'wanted'>): Deletion | undefined {
  return typeof wanted === 'string' || 'reference' in wanted ? undefined : wanted;
}

/** Undefined unless the package transaction replaces the package of this source. */
export function replacedBy(ptx: Pick<PackageTransaction, 'wanted'>): string | undefined {
  return installOf(ptx)?.replaces;
}

const usualRetryLimit = 5;
/** Every object that it makes carries its name as a label. */
const longestName = 63;

export function readPackageTransaction(object: JsonObject): PackageTransaction {
  const [spec, limit] = [at(object, 'spec') ?? {}, at(object, 'spec', 'retryLimit')];
  const status = objectAt(object, 'status');
  const generation = at(object, 'metadata', 'generation');
  const name = textAt(object, 'metadata', 'name') ?? '';
  return {
    name,
    uid: textAt(object, 'metadata', 'uid') ?? '',
    generation: typeof generation === 'number' ? generation : 0,
    createdAt: millisecondsOf(textAt(object, 'metadata', 'creationTimestamp')),
    isDeleting: at(object, 'metadata', 'deletionTimestamp') !== undefined,
    annotations: objectAt(object, 'metadata', 'annotations'),
    packageUid: textAt(object, 'metadata', 'labels', packageUidLabel),
    wanted: readWanted(name, objectAt(spec)),
    isDryRun: at(spec, 'dryRun') === true,
    specDigest: digestOf(spec),
    retryLimit: typeof limit === 'number' ? limit : usualRetryLimit,
    status: readStatus(status),
    isKnown: isKnown(status),
  };
}

const changes = ['Install', 'Delete', 'Replace'];
const members = ['change', ...changes.map((change) => change.toLowerCase()), 'dryRun', 'retryLimit'];

function readWanted(name: string, spec: JsonObject): PackageTransaction['wanted'] {
  if (name.length > longestName) return `metadata.name: at most ${longestName} characters, found ${name.length}`;
  const foreign = Object.keys(spec).find((member) => !members.includes(member));
  if (foreign !== undefined) return `spec: expected ${members.join(', ')}, found ${quoted(foreign)}`;
  const change = textAt(spec, 'change');
  const given = changes.filter((one) => at(spec, one.toLowerCase()) !== undefined);
  if (given.length !== 1 || given[0] !== change)
    return `spec.change: expected Install with spec.install, Delete with spec.delete, or Replace with spec.replace, found ${quoted(change)}`;
  if (change === 'Delete') return readDeletion(textAt(spec, 'delete', 'source') ?? '');
  return change === 'Install' ? readSnapshot(at(spec, 'install', 'package'), 'spec.install.package.') : readReplacement(spec);
}

function readDeletion(source: string): Deletion | string {
  return sourceFault('spec.delete.source', source) ?? { source };
}

function sourceFault(place: string, source: string): string | undefined {
  if (readSource(source) !== undefined) return undefined;
  return `${place}: expected registry and repository, without tag or digest, such as registry.example.org/acme/name, found ${quoted(source)}`;
}

function readReplacement(spec: JsonObject): Wanted | string {
  const replaces = textAt(spec, 'replace', 'source') ?? '';
  const fault = sourceFault('spec.replace.source', replaces);
  const wanted = readSnapshot(at(spec, 'replace', 'package'), 'spec.replace.package.');
  if (fault !== undefined) return fault;
  if (typeof wanted === 'string') return wanted;
  if (wanted.reference.source === replaces)
    return `spec.replace.package: expected a package of another source than ${replaces}: an Install updates a package to another version`;
  return { ...wanted, replaces };
}

/** The form of the name of an object: the API server refuses any other name. */
const nameForm = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;

/** The package to install, or the fault of its object in words. `place`: the path of the object, with a dot at its end. */
export function readSnapshot(snapshot: ReturnType<typeof at>, place: string): Wanted | string {
  const [kind, name] = [kindOf(textAt(snapshot, 'kind')), textAt(snapshot, 'metadata', 'name') ?? ''];
  const spec = objectAt(snapshot, 'spec');
  if (kind === undefined || textAt(snapshot, 'apiVersion') !== packageApiVersion)
    return `${place}apiVersion and kind: expected ${packageApiVersion} and one of ${packageKinds.join(', ')}, found ${quoted(textAt(snapshot, 'kind'))}`;
  if (!nameForm.test(name) || name.length > longestName)
    return `${place}metadata.name: expected at most ${longestName} of a-z, 0-9, - and ., a letter or digit at both ends, found ${quoted(name)}`;
  const reference = readPackage(spec, place);
  if (typeof reference === 'string') return reference;
  const uid = textAt(snapshot, 'metadata', 'uid');
  return { kind, name, uid, labels: objectAt(snapshot, 'metadata', 'labels'), spec, reference };
}

const longestReference = 512;

function readPackage(spec: ReturnType<typeof at>, place: string): PackageReference | string {
  const text = textAt(spec, 'package') ?? '';
  const reference = text.length > longestReference ? undefined : readReference(text);
  if (reference !== undefined) return reference;
  return `${place}spec.package: expected registry, repository and tag or digest, such as registry.example.org/acme/name:v1.0.0, found ${quoted(text)}`;
}
