// Who owns fields that an undo overwrites: the change owns them, as if no manager had written after it. So the undo returns them to
// their former owners.
import type { JsonObject } from '../json.ts';
import { withManagedFields } from './content.ts';
import { entryOf, isWithin, type Manager, managersByKey, managersOf, noFields } from './fields.ts';
import { type Path, pathOf } from './path.ts';

interface Overwritten {
  readonly live: JsonObject;
  /** The object as the change left it, and the manager of the change. */
  readonly expected: JsonObject | undefined;
  readonly forward: string;
  readonly paths: readonly Path[];
}

/** The live object with the owners that the fields had after the change. */
export function withoutLaterOwners({ live, expected, forward, paths }: Overwritten): JsonObject {
  const isAmong = (text: string): boolean => paths.some((path) => isWithin(pathOf(text), path) || isWithin(path, pathOf(text)));
  const before = managersByKey(expected);
  const own = (manager: Manager, key: string): Manager => {
    const earlier = before.get(key)?.fields ?? noFields;
    const later = manager.fields.difference(earlier);
    const taken = new Set([...later].filter((text) => manager.name !== forward && isAmong(text)));
    const lost = new Set([...earlier.difference(manager.fields)].filter(isAmong));
    return { ...manager, fields: manager.fields.difference(taken).union(lost) };
  };
  const now = managersByKey(live);
  const gone = [...before].filter(([key]) => !now.has(key)).map(([key, manager]) => own({ ...manager, fields: noFields }, key));
  const all = [...[...now].map(([key, manager]) => own(manager, key)), ...gone].filter(({ fields }) => fields.size > 0);
  return managersOf(live).length === 0 ? live : withManagedFields(live, all.map(entryOf));
}
