// A story: the objects that exist, the changes, the other events, and the required end.
import type { JsonObject } from '../../hooks/objects/json.ts';
import type { Client } from '../support/client.ts';
import { canaryOf, type Names } from './names.ts';
import type { PortCall } from './port.ts';
import type { World } from './world.ts';

export interface StoryEvent {
  /** The event happens when a status is first stored for which this is true. */
  readonly when?: ((status: JsonObject) => boolean) | undefined;
  /** The event happens before the first such request of the engine; then as much time passes as a reading counts. */
  readonly before?: (call: PortCall, names: Names) => boolean;
  readonly act: (world: World, names: Names) => Promise<unknown>;
}

export type EndPhase = 'Committed' | 'RolledBack' | 'Failed' | 'gone';

/** An object that exists before, as people make them: created by one tool, partly applied by another. */
export interface Given {
  readonly object: JsonObject;
  readonly applied?: JsonObject;
  /** What else was done to it. */
  readonly since?: (client: Client) => Promise<void>;
}

export interface Story {
  readonly id: string;
  /** The changes of each Transaction, by its name, with a namespace before the name if it is not the usual one. */
  readonly transactions: (names: Names) => Readonly<Record<string, readonly JsonObject[]>>;
  readonly given?: (names: Names) => readonly Given[];
  /** The changes of the Transactions that are Committed before, without faults, by their names. */
  readonly earlier?: (names: Names) => Readonly<Record<string, readonly JsonObject[]>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** The rest of the spec, without changes and ServiceAccount. */
  readonly spec?: JsonObject;
  readonly events: readonly StoryEvent[];
  readonly end: EndPhase;
  /** For Transactions with another end than the story's. */
  readonly ends?: (names: Names) => Readonly<Record<string, EndPhase>>;
  /** What the sources of contents hold as people stored them, by the name of the target. */
  readonly sourced?: (names: Names) => ReadonlyMap<string, JsonObject>;
  /** The content of targets at the end, by name; undefined for an object that does not exist; absent: as before. */
  readonly content?: (names: Names) => ReadonlyMap<string, JsonObject | undefined>;
  /** Its Transactions patch shared objects: each object must hold what the committed ones have set. */
  readonly isShared?: boolean;
  /** Transactions that are not called until somebody wakes them. */
  readonly asleep?: (names: Names) => readonly string[];
  /** It has a namespace of its own. */
  readonly isAlone?: boolean;
  /** A guard against an endless run, for stories with more calls than others. */
  readonly mostCalls?: number;
  /** Kubernetes' own controllers take part, so time passes in real time. */
  readonly isSlow?: boolean;
}

/** The place of a Transaction, by its key. */
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
