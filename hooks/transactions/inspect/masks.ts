// The parts of an object that the command line may show. It never shows values of Secrets, nor values that come from a Secret. It
// does not show them to users who may read them either, because a program's output is kept in places that no one guards.
import { contentOf } from '../../objects/content/content.ts';
import { type ListKinds, listKindsOf, valueAt } from '../../objects/content/lists.ts';
import { describePath, describeSealedPath, type Path, pathText } from '../../objects/content/path.ts';
import type { Json, JsonObject } from '../../objects/json.ts';
import { groupOf, type Reference } from '../../objects/reference.ts';
import { changedFields } from '../attribution/since.ts';
import type { FieldChange, Shown } from '../inspection.ts';
import type { Change } from '../model/change.ts';
import type { StoredResource } from '../model/entry.ts';
import { isFromSecret } from '../model/source.ts';
import type { Transaction } from '../model/transaction.ts';

export type Masking = 'nothing' | 'values' | 'new fields too';

/** What must not be shown of a target. A Transaction may hold Secrets in its spec. */
export function hidingOf(target: Pick<Reference, 'apiVersion' | 'kind'>, change: Change | undefined): Masking {
  if (isFromSecret(change)) return 'new fields too';
  const kind = `${groupOf(target.apiVersion)}/${target.kind}`;
  return kind === '/Secret' || kind === 'tx.janus.io/Transaction' ? 'values' : 'nothing';
}

/** Whether messages about the Transaction as a whole may quote a value of a Secret. */
export function holdsSecrets({ changes }: Pick<Transaction, 'changes'>): boolean {
  return changes.some((change) => hidingOf(change.target, change) !== 'nothing');
}

interface Versions {
  readonly before: JsonObject | undefined;
  readonly after: JsonObject | undefined;
}

interface Compared {
  readonly resource: Pick<StoredResource, 'statusSubresource'>;
  readonly hiding: Masking;
}

/** The fields in which the versions differ, but for those that name the object and our own marks. */
export function fieldChanges(versions: Versions, { resource, hiding }: Compared): readonly FieldChange[] {
  const kinds = listKindsOf(versions.before, versions.after);
  const content = (object: JsonObject | undefined): JsonObject | undefined =>
    object === undefined ? undefined : contentOf(object, resource);
  const [before, after] = [content(versions.before), content(versions.after)];
  const shown = outermost(changedFields(before, after, kinds));
  const described = shown.map((path) => fieldChange(path, { before, after }, { hiding, kinds, before }));
  return [...new Map(described.map((one) => [JSON.stringify(one), one])).values()];
}

/** The values at a path, by the name of their version. */
export function fieldChange(
  path: Path,
  versions: Readonly<Partial<Record<Side, JsonObject | undefined>>>,
  seen: Seen,
): FieldChange {
  const sides = (Object.keys(versions) as Side[]).map((name) =>
    sideOf(name, valueAt(versions[name], path, seen.kinds), seen.hiding),
  );
  return Object.assign({ path: shownPath(path, seen) }, ...sides);
}

type Side = 'before' | 'after' | 'now';

/** The paths that are in no other one: a list whose order differs holds all its items. */
export function outermost(paths: readonly Path[]): readonly Path[] {
  const all = [...new Map(paths.map((path) => [pathText(path), path])).values()];
  const known = new Set(all.map(pathText));
  return all.filter((path) => !path.some((_, length) => known.has(pathText(path.slice(0, length)))));
}

function sideOf(name: Side, value: Json | undefined, hiding: Masking): Partial<Record<Side, Shown>> {
  if (value === undefined) return {};
  return { [name]: hiding === 'nothing' ? { kind: 'value', value } : { kind: 'hidden' } };
}

interface Seen {
  readonly hiding: Masking;
  readonly before: JsonObject | undefined;
  readonly kinds: ListKinds;
}

/** Names of fields that come from a Secret are a part of its value, unless the object had them before. */
export function shownPath(path: Path, { hiding, before, kinds }: Seen): string {
  if (hiding === 'nothing') return describePath(path);
  if (hiding === 'values') return describeSealedPath(path);
  const known = path.filter((_, index) => valueAt(before, path.slice(0, index + 1), kinds) !== undefined);
  const shown = describeSealedPath(known);
  return known.length === path.length ? shown : `${shown}[…]`;
}
