// Revisions that still control what a later version of their package had left out.
import { type JsonObject, textAt } from '../../model/json.ts';
import { controllerOf } from '../checks/conflicts.ts';
import type { Member } from '../checks/contents.ts';
import { packageLabel } from '../model/names.ts';
import { packageApiVersion } from '../model/package.ts';

interface Own {
  readonly kind: string | undefined;
  readonly revision: string;
  readonly leaves?: string | undefined;
}

/** Of the controllers of these objects, the names of the revisions of the same package. */
export async function formerRevisions(
  own: Own,
  objects: readonly JsonObject[],
  live: (member: Member) => Promise<JsonObject | undefined>,
): Promise<readonly string[]> {
  const kind = `${own.kind}Revision`;
  const packageOf = async (name: string) =>
    textAt(await live({ apiVersion: packageApiVersion, kind, name }), 'metadata', 'labels', packageLabel);
  const name = objects.length === 0 ? undefined : await packageOf(own.leaves ?? own.revision);
  if (name === undefined) return [];
  const controllers = objects.map(controllerOf).filter((one) => textAt(one, 'kind') === kind);
  const names = [...new Set(controllers.map((one) => textAt(one, 'name') ?? ''))];
  const found = await Promise.all(names.map(async (one) => ((await packageOf(one)) === name ? [one] : [])));
  return found.flat();
}
