// The HorizontalPodAutoscalers that may scale what a plan changes: they would overwrite its replicas.
import type { Resource } from '../../objects/cluster.ts';
import type { JsonObject } from '../../objects/json.ts';
import type { PlanParts } from '../inspection.ts';
import { engine } from '../writes/resources.ts';
import { scalesReplicas } from './changes.ts';
import { fieldChanges } from './masks.ts';
import type { Survey } from './preflight.ts';

const horizontal: Resource = {
  ...{ group: 'autoscaling', version: 'v2', plural: 'horizontalpodautoscalers', kind: 'HorizontalPodAutoscaler' },
  ...{ namespaced: true, statusSubresource: true, verbs: ['list'] },
};

interface Autoscalers {
  readonly items: readonly JsonObject[];
  readonly unseen: readonly string[];
}

/** Those of the namespaces in which replicas are changed; `unseen`: what could not be listed, in words. */
export async function autoscalersOf(
  { reader }: Pick<PlanParts, 'reader'>,
  { prepared }: Pick<Survey, 'prepared'>,
): Promise<Autoscalers> {
  const scaled = prepared.filter(({ resolved: { resource }, prior, expected, way }) => {
    const fields = fieldChanges({ before: prior, after: expected }, { resource, hiding: 'values' });
    return scalesReplicas(fields, way === 'Update' || way === 'Patch' ? 'update' : 'none');
  });
  const namespaces = [...new Set(scaled.flatMap(({ resolved: { target } }) => target.namespace ?? []))];
  const lists = await Promise.all(
    namespaces.map((namespace) => reader.listMetadata(horizontal, namespace, engine, { whole: true })),
  );
  const hidden = namespaces.filter((_, index) => lists[index]?.kind === 'failed');
  return {
    items: lists.flatMap((list) => (list.kind === 'ok' ? list.items : [])),
    unseen: hidden.map((namespace) => `HorizontalPodAutoscalers in namespace ${namespace}`),
  };
}
