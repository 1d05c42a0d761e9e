// The values of an object that its controllers wrote, by the table of their writes.
import type { Json } from '../json.ts';
import { kindOfObject } from '../reference.ts';
import { type ControllerWrite, controllerWrites } from './controller-writes.ts';
import { isWithin, type Manager } from './fields.ts';
import { ownersAt } from './owners.ts';
import { field, type Path, pathOf } from './path.ts';

function isRowOf(row: ControllerWrite, kind: string, { name, subresource }: Manager): boolean {
  return row.manager === name && row.subresource === subresource && ['*', kind].includes(row.kind);
}

function covers({ fields }: ControllerWrite, path: Path): boolean {
  return fields.some((names) => isWithin(path, names.map(field)));
}

function hasRow(object: Json, owner: Manager, path: Path, isOfUse: (row: ControllerWrite) => boolean): boolean {
  const kind = kindOfObject(object);
  return controllerWrites.some(
    (row) => isRowOf(row, kind, owner) && covers(row, path) && (row.when?.(object) ?? true) && isOfUse(row),
  );
}

/** Whether the manager owns the path as a controller of Kubernetes that derives the value from this object. */
export function isDerivedBy(object: Json, owner: Manager, path: Path): boolean {
  return hasRow(object, owner, path, ({ isShared }) => isShared !== true);
}

/** Whether controllers of Kubernetes alone own the value at the path, and derive it from an object like `object`. */
export function isDerived(live: Json | undefined, path: Path, object: Json | undefined = live): boolean {
  const owners = ownersAt(live, path);
  return owners.length > 0 && object !== undefined && owners.every((owner) => isDerivedBy(object, owner, path));
}

/** Whether controllers of Kubernetes alone own the value at the path. Then no manager loses it together with the object. */
export function isOfControllers(live: Json, path: Path): boolean {
  const owners = ownersAt(live, path);
  return owners.length > 0 && owners.every((owner) => hasRow(live, owner, path, () => true));
}

/** Whether controllers write all the fields that the manager owns in an object of that kind, whatever the object is. */
export function writesAsController(kind: string, owner: Manager): boolean {
  const fields = controllerWrites.filter((row) => isRowOf(row, kind, owner)).flatMap((row) => row.fields);
  const known = fields.map((names) => names.map(field));
  return [...owner.fields].map(pathOf).every((path) => known.some((one) => isWithin(path, one) || isWithin(one, path)));
}
