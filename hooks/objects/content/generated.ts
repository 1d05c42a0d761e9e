// Fields that the API server generates for a new object. If an undo creates an object again, it must not send the old values: the
// API server refuses them, or they would be wrong.
import { at, equalJson, isObject, type Json, type JsonObject, textAt, withKey, withPath } from '../json.ts';

// Source: k8s.io/kubernetes pkg/registry/batch/job/strategy.go, generateSelector: labels of the Pod template and the selector
// hold the Job's uid. The API server refuses a Job with a selector of its own unless it sets manualSelector.
const jobLabels = ['controller-uid', 'batch.kubernetes.io/controller-uid', 'job-name', 'batch.kubernetes.io/job-name'];

/** The object without the fields that the API server must generate again. */
export function withoutGenerated(object: JsonObject): JsonObject {
  const isJob = textAt(object, 'kind') === 'Job' && textAt(object, 'apiVersion') === 'batch/v1';
  if (!isJob || at(object, 'spec', 'manualSelector') === true) return object;
  const plain = withPath(object, ['spec', 'selector'], undefined);
  const labels = at(plain, 'spec', 'template', 'metadata', 'labels');
  const stripped = withPath(plain, ['spec', 'template', 'metadata', 'labels'], withoutLabels(labels));
  const metadata = at(stripped, 'metadata');
  return isObject(metadata)
    ? withKey(stripped, 'metadata', withKey(metadata, 'labels', ownLabels(at(metadata, 'labels'), labels)))
    : stripped;
}

// Source: k8s.io/kubernetes pkg/apis/batch/v1/defaults.go, SetDefaults_Job: a Job without labels gets the labels of its template,
// and the generated labels of the template with them. If a Job is sent with labels, it keeps only these labels.
function ownLabels(labels: Json | undefined, ofTemplate: Json | undefined): JsonObject | undefined {
  return labels !== undefined && equalJson(labels, ofTemplate) ? undefined : withoutLabels(labels);
}

function withoutLabels(labels: Json | undefined): JsonObject | undefined {
  if (!isObject(labels)) return undefined;
  const kept = Object.entries(labels).filter(([key]) => !jobLabels.includes(key));
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

// Source: k8s.io/kubernetes pkg/controller/serviceaccount/tokens_controller.go: the controller deletes a token if its annotation
// names another uid than the uid of the ServiceAccount. A token that names no uid gets all of these fields.
const tokenData = ['token', 'ca.crt', 'namespace'];
const accountOf = (key: string): string => `kubernetes.io/service-account.${key}`;

/** Whether the object is a Secret with the token of a ServiceAccount. */
export function isToken(object: JsonObject): boolean {
  const isSecret = textAt(object, 'kind') === 'Secret' && textAt(object, 'apiVersion') === 'v1';
  return isSecret && textAt(object, 'type') === 'kubernetes.io/service-account-token';
}

/** The ServiceAccount that a token belongs to. */
export function tokenAccount(token: Json): { readonly name: string; readonly uid: string } {
  const said = (key: string): string => textAt(token, 'metadata', 'annotations', accountOf(key)) ?? '';
  return { name: said('name'), uid: said('uid') };
}

/**
 * The token without the fields generated for its ServiceAccount: these fields are worth nothing for another account of that name.
 */
export function withoutToken(token: JsonObject): JsonObject {
  const plain = withPath(token, ['metadata', 'annotations', accountOf('uid')], undefined);
  const data = at(plain, 'data');
  if (!isObject(data)) return plain;
  return withKey(plain, 'data', Object.fromEntries(Object.entries(data).filter(([key]) => !tokenData.includes(key))));
}
