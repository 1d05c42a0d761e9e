// The HorizontalPodAutoscalers that may scale what a plan changes: they would overwrite its replicas. The caller lists them.
import type { PlanParts } from '../inspection.ts';
import { type Autoscaler, readAutoscalers } from '../observe/autoscalers.ts';
import { engine } from '../writes/resources.ts';
import { scalesReplicas } from './changes.ts';
import { fieldChanges } from './masks.ts';
import type { Survey } from './preflight.ts';

interface Autoscalers {
  readonly items: readonly Autoscaler[];
  readonly unseen: readonly string[];
}

/** Those of the namespaces in which replicas are changed; `unseen`: what could not be listed, in words. */
export async function autoscalersOf(
  { reader }: Pick<PlanParts, 'reader'>,
  { prepared }: Pick<Survey, 'prepared'>,
): Promise<Autoscalers> {
  const scaled = prepared.filter(({ resolved: { resource }, prior, expected, way }) => {
    const fields = fieldChanges({ before: prior, after: expected }, { resource, hiding: 'values' });
    return scalesReplicas(fields, way === 'Create' || way === 'Delete' ? 'none' : 'update');
  });
  const namespaces = [...new Set(scaled.flatMap(({ resolved: { target } }) => target.namespace ?? []))];
  const resolved = prepared.map((one) => one.resolved);
  const autoscaling = readAutoscalers(reader, engine, resolved);
  const lists = await Promise.all(namespaces.map(autoscaling));
  return {
    items: lists.flatMap(({ found }) => found),
    unseen: lists.flatMap(({ unseen }, index) => unseen.map((kind) => `${kind} in namespace ${namespaces[index]}`)),
  };
}
