// The values of an object that its controllers wrote, by the table of their writes.
import type { Json } from '../json.ts';
import { kindOfObject } from '../reference.ts';
import { type ControllerWrite, controllerWrites } from './controller-writes.ts';
import { isWithin, type Manager, managersOf } from './fields.ts';
import { ownersAt } from './owners.ts';
import { field, type Path, pathOf } from './path.ts';

function isRowOf(row: ControllerWrite, kind: string, { name, subresource }: Manager): boolean {
  return ['*', name].includes(row.manager) && row.subresource === subresource && ['*', kind].includes(row.kind);
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
function isDerivedBy(object: Json, owner: Manager, path: Path): boolean {
  return hasRow(object, owner, path, ({ isShared, isOfScale }) => isShared !== true && isOfScale !== true);
}

/** Whether the manager owns the path as a client whose value is no work on the object: it derives the value, or it scales. */
export function isWrittenByController(object: Json, owner: Manager, path: Path): boolean {
  return hasRow(object, owner, path, ({ isShared }) => isShared !== true);
}

/** Whether controllers alone own the value at the path: they derive it, or a client has scaled the object. */
export function isControllerWritten(live: Json | undefined, path: Path): boolean {
  const owners = ownersAt(live, path);
  return live !== undefined && owners.length > 0 && owners.every((owner) => isWrittenByController(live, owner, path));
}

/** Whether the value at the path was written through the subresource `scale` alone. */
export function isScaled(live: Json | undefined, path: Path): boolean {
  const owners = ownersAt(live, path);
  return owners.length > 0 && owners.every(({ subresource }) => subresource === scale);
}

/** The field that the last client of the subresource `scale` has written, as managedFields shows it. */
export function scaledField(object: Json | undefined): readonly string[] | undefined {
  const [path] = managersOf(object)
    .filter(({ subresource }) => subresource === scale)
    .flatMap(({ fields }) => [...fields].map(pathOf));
  return path?.every((element) => element.startsWith('f:')) === true ? path.map((element) => element.slice(2)) : undefined;
}

const scale = 'scale';

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
