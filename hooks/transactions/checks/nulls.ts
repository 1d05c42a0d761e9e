// A Patch is a server-side apply: a null removes no map that others fill, and makes a text empty. The API server takes it without a word.
// Pure. Source: sigs.k8s.io/structured-merge-diff typed/merge.go, mergingWalker.doMap.
import { at, equalJson, isObject, type Json } from '../../objects/json.ts';
import { describe } from '../../objects/reference.ts';
import { foreign } from '../../objects/words.ts';
import { type Fault, fault } from './fault.ts';
import type { Resolved } from './targets.ts';

const longest = 253;

/** Of a Patch that would be Committed and remove nothing. */
export function keptFault({ index, target }: Pick<Resolved, 'index' | 'target'>, path: string): Fault {
  const what = `spec.changes[${index}]: Patch of ${describe(target)}: content has null at ${foreign(path, longest)}, which removes nothing`;
  return fault('Invalid', `${what}: leave it out, or write an Update without ${foreign(path, longest)}`, index);
}

/** The path of a null after which a map stays as it was, or a text becomes empty; undefined if there is none. */
export function keptDespiteNull(
  content: Json | undefined,
  prior: Json | undefined,
  expected: Json | undefined,
): string | undefined {
  if (!isObject(content)) return undefined;
  for (const [key, value] of Object.entries(content)) {
    const [was, is] = [at(prior, key), at(expected, key)];
    if (value === null && isKept(was, is)) return key;
    const below = keptDespiteNull(value, was, is);
    if (below !== undefined) return `${key}.${below}`;
  }
  return undefined;
}

function isKept(was: Json | undefined, is: Json | undefined): boolean {
  return isObject(is) ? Object.keys(is).length > 0 && equalJson(was, is) : is === '' && was !== '';
}
