// Fields that the API server generates for a new object and refuses, or would make wrong, when an old object is created again.
import { at, isObject, type Json, type JsonObject, textAt, withKey, withPath } from '../model/json.ts';

// Source: k8s.io/kubernetes pkg/registry/batch/job/strategy.go, generateSelector: labels of the Pod template and the selector
// hold the Job's uid; a Job that brings its own selector is refused unless it says manualSelector.
const jobLabels = ['controller-uid', 'batch.kubernetes.io/controller-uid', 'job-name', 'batch.kubernetes.io/job-name'];

/** The object without what must be generated again. */
export function withoutGenerated(object: JsonObject): JsonObject {
  const isJob = textAt(object, 'kind') === 'Job' && textAt(object, 'apiVersion') === 'batch/v1';
  if (!isJob || at(object, 'spec', 'manualSelector') === true) return object;
  const plain = withPath(object, ['spec', 'selector'], undefined);
  const labels = withoutLabels(at(plain, 'spec', 'template', 'metadata', 'labels'));
  const stripped = withPath(plain, ['spec', 'template', 'metadata', 'labels'], labels);
  const metadata = at(stripped, 'metadata');
  return isObject(metadata)
    ? withKey(stripped, 'metadata', withKey(metadata, 'labels', withoutLabels(at(metadata, 'labels'))))
    : stripped;
}

function withoutLabels(labels: Json | undefined): JsonObject | undefined {
  if (!isObject(labels)) return undefined;
  const kept = Object.entries(labels).filter(([key]) => !jobLabels.includes(key));
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}
