// Why the API server does not change an object in place, first what the user needs: which values would change, and what to do.
import type { Failure } from '../../objects/failure.ts';
import { at, isList, isObject, type Json, type JsonObject, textAt } from '../../objects/json.ts';
import { describe } from '../../objects/reference.ts';
import { cut, foreign } from '../../objects/words.ts';
import { describeRefusal } from '../checks/refusal.ts';
import type { Resolved } from '../checks/targets.ts';
import { isSealed } from '../model/entry.ts';
import { isFromSecret } from '../model/source.ts';
import type { Transaction } from '../model/transaction.ts';

const mostChanges = 3;
const longestValue = 60;
/** Of what the API server says: it quotes the whole value of the field before the reason. */
const longestWords = 200;

type Refused = Resolved & { readonly prior: JsonObject };

export function fixedInPlace(refused: Refused, failure: Failure, advice: string, transaction: Transaction): string {
  const { index, target, change, prior } = refused;
  const isHidden = isSealed(refused, transaction) || isFromSecret(change);
  const changed = isHidden ? [] : failure.fields.flatMap((field) => differences(change.content, prior, field));
  const shown = changed.slice(0, mostChanges).join(', ') + (changed.length > mostChanges ? ', …' : '');
  const where = shown === '' ? '' : ` (${shown})`;
  const words = cut(describeRefusal(failure, refused, transaction), longestWords);
  return `spec.changes[${index}]: ${describe(target)} exists and cannot be changed in place${where}: give it another name for each release, or ${advice}; the API server says: ${words}`;
}

/** `spec.template.spec.containers[c].image 1 -> 2`, of the values below a field that the API server names. */
function differences(content: Json | undefined, prior: Json | undefined, field: string): readonly string[] {
  const path = field.split('.');
  return below(at(content, ...path), at(prior, ...path), field);
}

function below(wanted: Json | undefined, found: Json | undefined, path: string): readonly string[] {
  if (isObject(wanted)) return Object.keys(wanted).flatMap((key) => below(wanted[key], at(found, key), `${path}.${key}`));
  if (isList(wanted))
    return wanted.flatMap((item, place) => below(item, partnerOf(item, found, place), `${path}[${nameOf(item) ?? place}]`));
  if (wanted === undefined || wanted === found) return [];
  return [`${foreign(path, longestWords)} ${valueText(found)} -> ${valueText(wanted)}`];
}

const nameOf = (item: Json): string | undefined => textAt(item, 'name');

function partnerOf(item: Json, found: Json | undefined, place: number): Json | undefined {
  if (!isList(found)) return undefined;
  const name = nameOf(item);
  return name === undefined ? found[place] : found.find((one) => nameOf(one) === name);
}

const valueText = (value: Json | undefined): string =>
  value === undefined ? 'nothing' : foreign(typeof value === 'string' ? value : JSON.stringify(value), longestValue);
