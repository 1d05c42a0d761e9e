// Removes what Kubernetes counts and generates in an object, for comparisons.
import { at, type Json, type JsonObject, parseJson, withPath } from '../../hooks/objects/json.ts';

const counted = 'deprecated.daemonset.template.generation';

/** A recreated Job gets another selector; the API server counts the templates of a DaemonSet in an annotation. */
export function withoutGenerated(shown: unknown): Json {
  const object = withPath(shown as JsonObject, ['metadata', 'annotations', counted], undefined);
  const entries = at(object, 'managedFields') as readonly string[];
  const managedFields = entries.map((entry) => entry.replace(`{".":{},"f:${counted}":{}}`, '{}'));
  const uid = at(object, 'spec', 'selector', 'matchLabels', 'batch.kubernetes.io/controller-uid');
  const rest = { ...object, managedFields };
  return typeof uid === 'string' ? parseJson(JSON.stringify(rest).replaceAll(uid, 'of-the-job')) : rest;
}
