// A comparison of objects with 45 000 keys takes a tenth of a second, and the reading of who owns their fields takes as long.

import { sharing } from '../../objects/content/equal-parts.ts';
import { learnTree } from '../../objects/content/field-trees.ts';
import { fieldTreesOf } from '../../objects/content/fields.ts';
import type { JsonObject } from '../../objects/json.ts';
import { areLarge, ownTurn, turnFor } from '../../objects/requests/loop-turns.ts';

/**
 * Prepares comparisons of these objects: reads the owned fields of each large object, in a turn for each, and resolves in a further
 * turn.
 */
export async function turnToCompare(...objects: readonly (JsonObject | undefined)[]): Promise<void> {
  for (const object of objects) {
    if (!areLarge(object)) continue;
    await ownTurn();
    for (const tree of fieldTreesOf(object)) learnTree(tree);
  }
  await turnFor(...objects);
}

/** The object, which keeps no part of its own that is equal in the other version: a snapshot holds both. */
export async function kept(object: JsonObject, other: JsonObject | undefined): Promise<JsonObject> {
  if (other === undefined || !areLarge(object)) return object;
  await turnToCompare(object, other);
  return sharing(object, other);
}
