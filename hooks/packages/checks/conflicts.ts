// Conflicts of packages with each other, and with live objects of others.
import { at, isList, isObject, type JsonObject, textAt } from '../../objects/json.ts';
import { groupOf } from '../../objects/reference.ts';
import { type Breach, compareDefinitions, describeBreaches } from '../compare/definition.ts';
import { type PackageFault, packageFault } from '../model/fault.ts';
import { quoted } from '../model/package.ts';
import type { Member } from './contents.ts';

interface Holder {
  readonly source: string;
  readonly members: readonly Member[];
}

/** Faults of objects that two packages contain. */
export function sharedMembers(holders: readonly Holder[]): readonly PackageFault[] {
  const all = holders.flatMap(({ source, members }) =>
    members.map((member) => ({ source, key: `${member.kind} ${member.name}`, member })),
  );
  const sources = Map.groupBy(all, ({ key }) => key);
  return [...sources.values()].flatMap((same) => {
    const [first] = same;
    if (first === undefined || same.length < 2) return [];
    const what = `${shortKind(first.member.kind)} ${first.member.name}`;
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
  /** Names of revisions: those that are replaced in the tree, and older ones of this package, which control what it left out. */
  readonly leaving: readonly string[];
  /** Names of revisions that control something and do not exist. */
  readonly gone?: readonly string[];
  /** Names of the revisions that the Lock holds; absent if they are not known. */
  readonly locked?: ReadonlySet<string> | undefined;
}

/** Faults if the live object must not become the object in the package. */
export function replacementFaults({ live, next, ...revisions }: Replacing): readonly PackageFault[] {
  const what = `${shortKind(textAt(next, 'kind') ?? '')} ${textAt(next, 'metadata', 'name')}`;
  const controller = controllerOf(live);
  if (controller !== undefined && !isLeaving(controller, revisions.leaving))
    return [packageFault('CRDConflict', `${what} is controlled by ${controlledBy(controller, revisions)}`)];
  const breaches: readonly Breach[] = isDefinition(next) ? compareDefinitions(live, next) : [];
  if (breaches.length === 0) return [];
  return [packageFault('SchemaIncompatible', `${what} would break what is there: ${describeBreaches(breaches)}`)];
}

/** Who controls it, and what to repair. */
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

export function controllerOf(object: JsonObject): JsonObject | undefined {
  const owners = at(object, 'metadata', 'ownerReferences');
  return (isList(owners) ? owners : []).filter(isObject).find((owner) => at(owner, 'controller') === true);
}

/** Whether the owner is one of these revisions. */
export function isLeaving(owner: JsonObject, leaving: readonly string[]): boolean {
  return isRevision(owner) && leaving.includes(textAt(owner, 'name') ?? '');
}

function isRevision(owner: JsonObject): boolean {
  return groupOf(textAt(owner, 'apiVersion') ?? '') === 'pkg.crossplane.io' && /Revision$/.test(textAt(owner, 'kind') ?? '');
}
