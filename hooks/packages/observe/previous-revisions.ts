// Revisions that control what a package holds, by what they own: the Lock may have lost the entry of their package.
import { type JsonObject, textAt } from '../../objects/json.ts';
import type { Reference } from '../../objects/reference.ts';
import { controllerOf } from '../checks/conflicts.ts';
import { packageApiVersion } from '../model/package.ts';
import { isRevisionOf, type RevisionOwner } from '../model/revision.ts';

/** Revisions that control objects: those of the package itself, and those that are gone. */
interface Controllers {
  readonly own: readonly string[];
  readonly gone: readonly string[];
}

/** Of the controllers of these objects, which are revisions of its kind. */
export async function controllersOf(
  own: RevisionOwner & { readonly kind: string | undefined },
  objects: readonly JsonObject[],
  live: (member: Reference) => Promise<JsonObject | undefined>,
): Promise<Controllers> {
  const kind = `${own.kind}Revision`;
  const controllers = objects.map(controllerOf).filter((one) => textAt(one, 'kind') === kind);
  const names = [...new Set(controllers.map((one) => textAt(one, 'name') ?? ''))];
  const found = await Promise.all(names.map((name) => live({ apiVersion: packageApiVersion, kind, name })));
  return {
    own: names.filter((name, index) => isRevisionOf(own, name, found[index])),
    gone: names.filter((_, index) => found[index] === undefined),
  };
}
