// Finalizers of an object that is restored while it is being deleted.
import { isTerminating } from '../../objects/content/ownership.ts';
import { at, isList, isObject, type Json, type JsonObject, withPath } from '../../objects/json.ts';

// The API server accepts no new finalizer on an object that is being deleted: everything else is restored. Source: apimachinery,
// ValidateObjectMetaAccessorUpdate.
export function withKeptFinalizers(restored: Json | undefined, live: JsonObject): Json | undefined {
  const wanted = at(restored, 'metadata', 'finalizers');
  if (!isObject(restored) || !isTerminating(live) || !isList(wanted)) return restored;
  const there = at(live, 'metadata', 'finalizers');
  const kept = wanted.filter((one) => isList(there) && there.includes(one));
  return withPath(restored, ['metadata', 'finalizers'], kept);
}
