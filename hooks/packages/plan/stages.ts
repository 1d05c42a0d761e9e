// A try as stages: their names, their contents in ConfigMaps, and the Transactions that make them.
import type { Write } from '../../cluster.ts';
import { isList, isObject, type JsonObject, parseJson, textAt } from '../../model/json.ts';
import { digestOfText, hashedName } from '../model/digest.ts';
import { mayBreak, type PackageTransaction } from '../model/package-transaction.ts';
import type { Purpose, Stage } from '../model/status.ts';
import { accountIn, accountName, configMaps, fieldManager, nameLabel, stageLabel, stages, uidLabel } from './resources.ts';

/** Of the engine. */
const allowIrreversible = 'tx.janus.io/allow-irreversible';

const mostChanges = 64;
/** Contents lie in a ConfigMap (1 MiB), and in the Transaction that is made of them (1.5 MiB with its status). */
const mostBytes = 700_000;

/** A stage, and what it is made from. */
export interface Prepared {
  readonly stage: Stage;
  readonly contents: string;
}

export interface Part {
  readonly purpose: Purpose;
  readonly items: readonly JsonObject[];
  /** How many changes an item can become. */
  readonly changesPerItem: number;
}

/** The largest object that a stage can hold. */
export const mostObjectBytes = mostBytes;

/** All stages of a try, in order. The same parts give the same stages, whoever computes them. */
export function stagesOf({ uid, status }: PackageTransaction, parts: readonly Part[]): readonly Prepared[] {
  const chunks = parts.flatMap(({ purpose, items, changesPerItem }) =>
    chunked(items, Math.floor(mostChanges / changesPerItem)).map((texts) => ({ purpose, contents: `[${texts.join(',')}]` })),
  );
  return chunks.map(({ purpose, contents }, index) => ({
    stage: { name: hashedName('ptx', uid, status.failures + 1, index), purpose, digest: digestOfText(contents) },
    contents,
  }));
}

function chunked(items: readonly JsonObject[], most: number): readonly (readonly string[])[] {
  const chunks: string[][] = [];
  let bytes = 0;
  for (const text of items.map((item) => JSON.stringify(item))) {
    const size = Buffer.byteLength(text);
    const last = chunks.at(-1);
    if (last === undefined || last.length >= most || bytes + size > mostBytes) {
      chunks.push([text]);
      bytes = size;
    } else {
      last.push(text);
      bytes += size;
    }
  }
  return chunks;
}

function metadataOf({ name, uid }: PackageTransaction, stage: string, index: number): JsonObject {
  return { name: stage, labels: { [nameLabel]: name, [uidLabel]: uid, [stageLabel]: String(index) } };
}

const key = 'items';

export function contentsWrite(ptx: PackageTransaction, prepared: Prepared, index: number, namespace: string): Write {
  const { stage, contents } = prepared;
  const metadata = metadataOf(ptx, stage.name, index);
  return {
    verb: 'create',
    identity: accountIn(namespace),
    location: { resource: configMaps, namespace, name: stage.name },
    object: { apiVersion: 'v1', kind: 'ConfigMap', metadata, immutable: true, data: { [key]: contents } },
    fieldManager,
  };
}

/** The items of a stage; undefined if they are not those that were prepared. */
export function readContents(configMap: JsonObject, { digest }: Stage): readonly JsonObject[] | undefined {
  const text = textAt(configMap, 'data', key);
  if (text === undefined || digestOfText(text) !== digest) return undefined;
  const items = parseJson(text);
  return isList(items) ? items.filter(isObject) : undefined;
}

export function stageWrite(ptx: PackageTransaction, index: number, changes: readonly JsonObject[], namespace: string): Write {
  const name = ptx.status.stages[index]?.name ?? '';
  return {
    verb: 'create',
    identity: accountIn(namespace),
    location: { resource: stages, namespace, name },
    object: {
      apiVersion: 'tx.janus.io/v1alpha1',
      kind: 'Transaction',
      metadata: { ...metadataOf(ptx, name, index), ...(mayBreak(ptx) ? { annotations: { [allowIrreversible]: 'true' } } : {}) },
      spec: { serviceAccountName: accountName, changes },
    },
    fieldManager,
  };
}
