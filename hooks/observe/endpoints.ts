// Endpoints that somebody made by hand. As soon as a Service of their name has a selector, a controller of Kubernetes overwrites them, and
// no undo of the Service brings them back. Source: k8s.io/kubernetes pkg/controller/endpoint/endpoints_controller.go, syncService.
import { type Doomed, isFedByKubernetes } from '../checks/company.ts';
import type { Resolved } from '../checks/targets.ts';
import type { Reader, Resource } from '../cluster.ts';
import { managersOf } from '../content/fields.ts';
import { kubernetesManagers } from '../content/ownership.ts';
import type { Failure } from '../model/failure.ts';
import type { JsonObject } from '../model/json.ts';
import { kindOf, kindOfReference } from '../model/reference.ts';
import type { Transaction } from '../model/transaction.ts';
import { serviceAccountOf } from '../writes/resources.ts';

const endpoints: Resource = {
  group: '',
  version: 'v1',
  plural: 'endpoints',
  kind: 'Endpoints',
  namespaced: true,
  verbs: [],
  statusSubresource: false,
};

interface Context {
  readonly reader: Reader;
  readonly transaction: Transaction;
  readonly all: readonly Resolved[];
}

interface States {
  readonly prior: JsonObject | undefined;
  readonly expected: JsonObject | undefined;
}

/** Whether a change of a Service takes such Endpoints. If the ServiceAccount may not read them, nobody knows. */
export async function takesEndpoints(context: Context, one: Resolved, states: States): Promise<boolean | Failure> {
  const { name, namespace = '' } = one.target;
  if (!getsFed(one, states) || isDeletedBefore(context, one)) return false;
  const found = await context.reader.getMetadata({ resource: endpoints, namespace, name }, serviceAccountOf(context.transaction));
  if (found.kind === 'failed') return found.failure.kind === 'transient' ? found.failure : false;
  return managersOf(found.object).some((manager) => !kubernetesManagers.includes(manager.name));
}

function getsFed({ resource }: Pick<Doomed, 'resource'>, { prior, expected }: States): boolean {
  const isFed = (service: JsonObject | undefined): boolean => service !== undefined && isFedByKubernetes(service);
  return kindOf(resource) === '/Service' && isFed(expected) && !isFed(prior);
}

// Their own undo brings them back.
function isDeletedBefore({ all }: Context, { index, target: { name, namespace } }: Resolved): boolean {
  const earlier = all.filter((one) => one.index < index && one.change.type === 'Delete').map(({ target }) => target);
  return earlier.some((one) => kindOfReference(one) === `/${endpoints.kind}` && one.name === name && one.namespace === namespace);
}
