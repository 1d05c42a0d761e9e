// Keys of a Secret that an apply has sent as `stringData`: no field manager owns them, so the next apply cannot remove them.
import { at, isObject, type Json } from '../json.ts';
import { ownedBy } from './ownership.ts';

/** How many such keys stay although content does not name them, in words; undefined if there are none. Names of keys may be secret. */
export function stayingKeysNote(content: Json | undefined, prior: Json | undefined, manager: string): string | undefined {
  const sent = ownedBy(prior, [manager]).filter(([first, key]) => first === 'f:stringData' && key !== undefined);
  const names = sent.map(([, key = '']) => key.slice(2));
  const staying = names.filter((name) => isIn(prior, name) && !isIn(content, name));
  if (staying.length === 0) return undefined;
  return `${staying.length} of its keys that content does not name stay: an earlier apply sent them as stringData, so no field manager owns them`;
}

function isIn(secret: Json | undefined, key: string): boolean {
  const data = at(secret, 'data');
  return isObject(data) && Object.hasOwn(data, key);
}
