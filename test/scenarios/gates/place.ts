// A stage whose hook is called by hand and whose Pods a stand-in for kubelets plays: what a gate waits for happens when the test says so,
// and a read follows it, so that no test depends on the speed of controllers.
import { at, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { type Kubelet, startKubelet } from '../../support/kubelet.ts';
import { itemsOf } from '../../support/round-trip.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { type Stepped, stepTo } from '../../support/stepping.ts';
import { hasCondition } from './scene.ts';

export interface Place {
  readonly stage: Stage;
  readonly kubelet: Kubelet;
  /** Makes the object of that path (`apps/v1/deployments/web`) as a person does. */
  readonly make: (path: string, object: JsonObject) => Promise<void>;
  readonly read: (path: string) => Promise<JsonObject>;
  readonly isThere: (path: string) => Promise<boolean>;
  /** Waits until the object has the condition, with the reason if one is given. */
  readonly reaches: (path: string, type: string, reason?: string) => Promise<unknown>;
  /** Waits for a Pod of which that is true, and gives its name. */
  readonly pod: (holds: (pod: JsonObject) => boolean) => Promise<string>;
  /** Steps until the gate of the change is open. */
  readonly opens: (name: string, index: number) => Promise<Stepped>;
}

type Parts = Parameters<typeof startStage>;

/** `rules`: what the ServiceAccount may do; everything unless said otherwise. */
export async function openPlace(t: Parts[0], rules?: readonly JsonObject[]): Promise<Place> {
  const stage = await startStage(t, { withoutLoop: true, ...(rules === undefined ? {} : { rules }) });
  const { client, path, namespace } = stage;
  const read: Place['read'] = async (suffix) => must(await client.get(path(suffix)));
  return {
    stage,
    kubelet: startKubelet(t, client, namespace),
    make: async (suffix, object) => {
      const collection = path(suffix).replace(/\/[^/]+$/, '');
      must(await client.create(collection, object, { fieldManager: 'kubectl-create' }));
    },
    read,
    isThere: async (suffix) => (await client.get(path(suffix))).code === 200,
    reaches: (suffix, type, reason) =>
      waitFor(async () => hasCondition(await read(suffix), type, reason), `${suffix} to have ${type} (${reason})`),
    pod: (holds) =>
      waitFor(async () => {
        const found = (await client.list(path('pods'))).items.find(holds);
        return textAt(found, 'metadata', 'name');
      }, 'a Pod as it is to be'),
    opens: (name, index) => stepTo(stage, name, `gate ${index} of ${name} to be open`, ({ status }) => isOpen(status, index)),
  };
}

function isOpen(status: JsonObject, index: number): boolean {
  const gate = at(itemsOf(status)[index], 'gate');
  return gate !== undefined && at(gate, 'passed') === undefined;
}

/** A change of the object with a gate, AfterChange unless that says otherwise. */
export function gated(type: string, object: JsonObject, gate: JsonObject = {}): JsonObject {
  const { apiVersion = '', kind = '', metadata, ...content } = object;
  return { type, target: { apiVersion, kind, name: textAt(metadata, 'name') ?? '' }, content, gate };
}

/** The condition Succeeded, and the error of the change. */
export function verdict(status: JsonObject, index: number): { readonly succeeded: unknown; readonly error: unknown } {
  const conditions = at(status, 'conditions') as readonly JsonObject[];
  return {
    succeeded: conditions.find(({ type }) => type === 'Succeeded'),
    error: at(itemsOf(status)[index], 'error'),
  };
}
