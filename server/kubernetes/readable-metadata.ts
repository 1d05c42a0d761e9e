// An aggregated API server may answer anything. The engine works with metadata as the API of Kubernetes has them, so an answer with
// others counts as unreadable, before the engine works with it.
// https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/object-meta/
import { isList, isObject, type Json, type JsonObject } from '../../hooks/objects/json.ts';

type Check = (value: Json) => boolean;

const isText: Check = (value) => typeof value === 'string';
const isAbsent = (value: Json | undefined): boolean => value === undefined || value === null;
const listOf =
  (each: Check): Check =>
  (value) =>
    isList(value) && value.every(each);
const isMapOfTexts: Check = (value) => isObject(value) && Object.values(value).every(isText);
const isFieldsOfManager: Check = (value) => isObject(value) && (isAbsent(value.fieldsV1) || isObject(value.fieldsV1 ?? null));

const members: Readonly<Record<string, Check>> = {
  name: isText,
  namespace: isText,
  uid: isText,
  resourceVersion: isText,
  creationTimestamp: isText,
  deletionTimestamp: isText,
  labels: isMapOfTexts,
  annotations: isMapOfTexts,
  finalizers: listOf(isText),
  ownerReferences: listOf(isObject),
  managedFields: listOf(isFieldsOfManager),
};

/** Whether the metadata of an object, if it has any, have the types of Kubernetes. */
export function isReadable({ metadata }: JsonObject): boolean {
  if (metadata === undefined || metadata === null) return true;
  if (!isObject(metadata)) return false;
  return Object.entries(members).every(([key, check]) => {
    const value = Object.hasOwn(metadata, key) ? metadata[key] : undefined;
    return value === undefined || value === null || check(value);
  });
}
