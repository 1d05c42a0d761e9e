// What a story is: the objects there are, what is changed, what happens besides, and how it must end.
import type { JsonObject } from '../../hooks/model/json.ts';
import type { Client } from '../support/client.ts';
import { canaryOf, type Names } from './names.ts';
import type { PortCall } from './port.ts';
import type { World } from './world.ts';

export interface StoryEvent {
  /** It happens the first time that a status is stored for which this holds. */
  readonly when?: ((status: JsonObject) => boolean) | undefined;
  /** It happens before the first such request of the engine, and as much time passes as a look counts. */
  readonly before?: (call: PortCall, names: Names) => boolean;
  readonly act: (world: World, names: Names) => Promise<unknown>;
}

export type EndPhase = 'Committed' | 'RolledBack' | 'Failed' | 'gone';

/** An object that is there before, as people make them: created by one tool, a part of it applied by another. */
export interface Given {
  readonly object: JsonObject;
  readonly applied?: JsonObject;
  /** What else was done to it. */
  readonly since?: (client: Client) => Promise<void>;
}

export interface Story {
  readonly id: string;
  /** The changes of each of its Transactions, by its name, with its namespace before it where that is another. */
  readonly transactions: (names: Names) => Readonly<Record<string, readonly JsonObject[]>>;
  readonly given?: (names: Names) => readonly Given[];
  readonly annotations?: Readonly<Record<string, string>>;
  /** What the spec says beside its changes and its ServiceAccount. */
  readonly spec?: JsonObject;
  readonly events: readonly StoryEvent[];
  readonly end: EndPhase;
  /** For Transactions that end otherwise than the story. */
  readonly ends?: (names: Names) => Readonly<Record<string, EndPhase>>;
  /** What targets hold at the end, by name, undefined for one that is not there; left out: as before. */
  readonly content?: (names: Names) => ReadonlyMap<string, JsonObject | undefined>;
  /** Its Transactions patch objects that they share: each must hold what the committed ones have set. */
  readonly isShared?: boolean;
  /** Transactions that are not called before somebody wakes them. */
  readonly asleep?: (names: Names) => readonly string[];
  /** It has a namespace for itself. */
  readonly isAlone?: boolean;
  /** A guard against going on for ever, where it takes more calls than others. */
  readonly mostCalls?: number;
  /** Kubernetes' own controllers take part, so time passes as it does. */
  readonly isSlow?: boolean;
}

/** Place of a Transaction by its key. */
export function homeOf(names: Pick<Names, 'namespace'>, key: string): { readonly namespace: string; readonly name: string } {
  const [name = '', namespace = names.namespace] = key.split('/').reverse();
  return { namespace, name };
}

export function transactionPath(namespace: string, name: string): string {
  return `/apis/tx.janus.io/v1alpha1/namespaces/${namespace}/transactions/${name}`;
}

export function pathOfTransaction(names: Pick<Names, 'namespace'>, key: string): string {
  const { namespace, name } = homeOf(names, key);
  return transactionPath(namespace, name);
}

export function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** `b` and `c` are ConfigMaps, `d` is a Secret. */
export function threeObjects(names: Names): readonly Given[] {
  const { b, c, d } = names;
  const configMaps = [b, c].map((name) => ({
    object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels: { team: 'shop' } }, data: { color: 'blue' } },
    applied: { data: { applied: 'yes' } },
  }));
  const data = { color: base64('blue'), canary: base64(canaryOf(names)) };
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: d, labels: { team: 'shop' } }, data };
  return [...configMaps, { object: secret, applied: { data: { applied: base64('yes') } } }];
}
