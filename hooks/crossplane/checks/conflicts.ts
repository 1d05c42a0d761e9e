// Conflicts of packages with each other, and with other owners' live objects.
import { at, type JsonObject, objectsAt, textAt } from '../../objects/json.ts';
import { groupOf, type Reference } from '../../objects/reference.ts';
import { type Breach, compareDefinitions, describeBreaches } from '../compare/definition.ts';
import { type PackageFault, packageFault } from '../model/fault.ts';
import { quoted } from '../model/package.ts';

interface Holder {
  readonly source: string;
  readonly objects: readonly Reference[];
}

/** Faults of objects that two packages contain. */
export function sharedObjects(holders: readonly Holder[]): readonly PackageFault[] {
  const all = holders.flatMap(({ source, objects }) =>
    objects.map((object) => ({ source, key: `${object.kind} ${object.name}`, object })),
  );
  const sources = Map.groupBy(all, ({ key }) => key);
  return [...sources.values()].flatMap((same) => {
    const [first] = same;
    if (first === undefined || same.length < 2) return [];
    const what = `${shortKind(first.object.kind)} ${first.object.name}`;
    const who = same.map(({ source }) => source).join(' and ');
    return [packageFault('CRDConflict', `Multiple packages install incompatible versions of ${what}: ${who}`)];
  });
}

function shortKind(kind: string): string {
  return kind === 'CustomResourceDefinition' ? 'CRD' : kind;
}

interface Replacing {
  readonly live: JsonObject;
  readonly next: JsonObject;
  /**
   * Names of revisions: those that the tree replaces, and older revisions of this package, which control objects that it left out.
   */
  readonly leaving: readonly string[];
  /** Names of revisions that control an object and do not exist. */
  readonly gone?: readonly string[];
  /** Names of the revisions that the Lock holds; absent if they are not known. */
  readonly locked?: ReadonlySet<string> | undefined;
}

/** A definition in a package that would break the live one, or the instances of the live one. */
export interface DefinitionChange {
  readonly live: JsonObject;
  readonly next: JsonObject;
  readonly breaches: readonly Breach[];
}

export function isBroken(found: readonly PackageFault[] | DefinitionChange): found is DefinitionChange {
  return 'breaches' in found;
}

/** Faults if the live object must not become the object in the package. */
export function replacementFaults({ live, next, ...revisions }: Replacing): readonly PackageFault[] | DefinitionChange {
  const controller = controllerOf(live);
  if (controller !== undefined && !isLeaving(controller, revisions.leaving))
    return [packageFault('CRDConflict', `${nameOf(next)} is controlled by ${controlledBy(controller, revisions)}`)];
  const breaches: readonly Breach[] = isDefinition(next) ? compareDefinitions(live, next) : [];
  return breaches.length === 0 ? [] : { live, next, breaches };
}

function nameOf(object: JsonObject): string {
  return `${shortKind(textAt(object, 'kind') ?? '')} ${textAt(object, 'metadata', 'name')}`;
}

export function brokenFault({ next, breaches }: Pick<DefinitionChange, 'next' | 'breaches'>): PackageFault {
  return packageFault('SchemaIncompatible', `${nameOf(next)} would break what is there: ${describeBreaches(breaches)}`);
}

/** `objects`: instances that hold values which the new definition drops, in words. */
export function droppedFault({ next, breaches }: DefinitionChange, objects: string, howToAllow: string): PackageFault {
  const what = `${nameOf(next)}: ${objects} hold values in fields that it drops (${describeBreaches(breaches)})`;
  return packageFault('SchemaIncompatible', `${what}: remove the values, or ${howToAllow}`);
}

/** The loss that a user has allowed. */
export function lostWords({ next, breaches }: DefinitionChange, objects: string): string {
  return `${nameOf(next)}: ${objects} lose the values in fields that it drops (${describeBreaches(breaches)})`;
}

/** Who controls the object, and what to repair. */
function controlledBy(controller: JsonObject, { gone, locked }: Pick<Replacing, 'gone' | 'locked'>): string {
  const name = textAt(controller, 'name') ?? '';
  const owner = `${quoted(textAt(controller, 'kind'))} ${quoted(name)}`;
  if (!isRevision(controller)) return `${owner}, which is no package: let it go first, or remove that owner reference`;
  if (gone?.includes(name) === true) return `${owner}, which is gone: install its package again, or remove that owner reference`;
  if (locked === undefined || locked.has(name)) return `${owner}, which does not leave`;
  return `${owner}, which does not leave, and which the Lock does not hold: install its package again, which gives it its entry back`;
}

/** CustomResourceDefinition, CompositeResourceDefinition or ManagedResourceDefinition. */
function isDefinition(object: JsonObject): boolean {
  return /ResourceDefinition$/.test(textAt(object, 'kind') ?? '');
}

export function ownersIn(object: JsonObject | undefined): readonly JsonObject[] {
  return objectsAt(object, 'metadata', 'ownerReferences');
}

/** The owner in control; undefined if no owner controls the object. */
export function controllerOf(object: JsonObject | undefined): JsonObject | undefined {
  return ownersIn(object).find((owner) => at(owner, 'controller') === true);
}

/** Whether the owner is one of these revisions. */
export function isLeaving(owner: JsonObject, leaving: readonly string[]): boolean {
  return isRevision(owner) && leaving.includes(textAt(owner, 'name') ?? '');
}

/** Whether the owner is a revision of a package. */
export function isRevision(owner: JsonObject): boolean {
  return groupOf(textAt(owner, 'apiVersion') ?? '') === 'pkg.crossplane.io' && /Revision$/.test(textAt(owner, 'kind') ?? '');
}
