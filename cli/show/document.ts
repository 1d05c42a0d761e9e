// The documents of -o json and -o yaml. schemas/ has a schema for each kind. A document is a copy, because YAML would print an alias for
// an object that occurs twice. It keeps every digit.
import { type JsonObject, parseJson } from '../../hooks/objects/json.ts';

export function documentOf(kind: string, values: object): JsonObject {
  return parseJson(JSON.stringify({ apiVersion: 'cli.janus.io/v1', kind, ...values })) as JsonObject;
}
