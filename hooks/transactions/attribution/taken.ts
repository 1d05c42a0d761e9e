// What an apply takes from other field managers: the fields, with the values that it replaces, in words.
import { managersOf } from '../../objects/content/fields.ts';
import { listKindsOf, valueAt } from '../../objects/content/lists.ts';
import { lostFields } from '../../objects/content/losers.ts';
import { describePath, type Path, pathOf, pathText } from '../../objects/content/path.ts';
import { isList, isObject, type Json, type JsonObject } from '../../objects/json.ts';
import { foreign, mostWarnings, warningLength } from '../../objects/words.ts';
import type { Counted } from '../model/item.ts';
import { isOwnMark } from '../model/marks.ts';
import { isOfTransaction, type Managers } from '../model/transaction.ts';

interface Versions {
  readonly before: JsonObject | undefined;
  readonly after: JsonObject | undefined;
}

/**
 * Each text: `image "1.4-hotfix" (kubectl-set)`; of a hidden object only the field managers. Without `spec.fieldManager`, what earlier
 * Transactions applied does not count: each of them has its own manager, and the next one always replaces it.
 */
export function takenBy(versions: Versions, managers: Managers, isHidden: boolean): { readonly took?: Counted } {
  const { forward, holder } = managers;
  const isOther = (name: string): boolean => name !== forward && (holder !== undefined || !isOfTransaction(name));
  const lost = [...lostFields(versions.before, versions.after)].flatMap(([name, paths]) =>
    paths.filter((path) => isOther(name) && !isOwnMark(path)).map((path) => ({ name, path })),
  );
  if (lost.length === 0) return {};
  const all = [...Map.groupBy(lost, ({ path }) => pathText(path))].map(([path, owners]) => ({
    path: pathOf(path),
    by: `(${owners.map(({ name }) => name).join(', ')})`,
  }));
  const owned = new Set(managersOf(versions.before).flatMap(({ fields }) => [...fields]));
  const texts = isHidden
    ? [...new Set(all.map(({ by }) => by))].slice(0, mostWarnings)
    : all.slice(0, mostWarnings).map(({ path, by }) => `${fieldIn(path, versions.before, owned)} ${by}`);
  return { took: { count: all.length, texts: texts.map((text) => foreign(text, warningLength)) } };
}

const longestValue = 60;

/** `owned`: the paths of all fields with a manager, as text. */
function fieldIn(path: Path, before: Json | undefined, owned: ReadonlySet<string>): string {
  const value = valueAt(before, path, listKindsOf(before));
  const isShown = value !== undefined && !isObject(value) && !isList(value);
  return `${shortest(path, owned)}${isShown ? ` ${foreign(JSON.stringify(value), longestValue)}` : ''}`;
}

/** The shortest end of the path that leads to no other field with a manager: `image`, or `containers[name=web].image`. */
function shortest(path: Path, owned: ReadonlySet<string>): string {
  const ends = path.flatMap((element, index) => (element.startsWith('f:') ? [path.slice(index)] : [])).reverse();
  const isOnly = (text: string) => [...owned].filter((one) => one.endsWith(`,${text}`) || one === `[${text}`).length <= 1;
  return describePath(ends.find((end) => isOnly(pathText(end).slice(1))) ?? path);
}
