// Members that every object has, at the root and in an embedded resource, though its schema need not name them. The API server
// never drops them, so a new rule about one of them concerns existing objects.
import { at, isObject, type Json, type JsonObject, withKey } from '../../objects/json.ts';

/** The node with `apiVersion`, `kind` and `metadata`. A schema may restrict only the names in `metadata`. */
export function withImplicit(node: JsonObject): JsonObject {
  const metadata = named(at(node, 'properties', 'metadata'), { type: 'object' });
  return withMembers(node, {
    apiVersion: named(at(node, 'properties', 'apiVersion'), text),
    kind: named(at(node, 'properties', 'kind'), text),
    metadata: withMembers(metadata, {
      name: named(at(metadata, 'properties', 'name'), text),
      generateName: named(at(metadata, 'properties', 'generateName'), text),
    }),
  });
}

const text: JsonObject = { type: 'string' };

function named(given: Json | undefined, least: JsonObject): JsonObject {
  return isObject(given) ? { ...least, ...given } : least;
}

function withMembers(node: JsonObject, members: JsonObject): JsonObject {
  const given = at(node, 'properties');
  return withKey(node, 'properties', isObject(given) ? { ...given, ...members } : members);
}
