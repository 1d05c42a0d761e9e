// The CustomResourceDefinition of a target's kind, if the Transaction itself created it.
import type { SnapshotEntry } from '../model/entry.ts';
import type { JsonObject } from '../model/json.ts';
import type { Transaction } from '../model/transaction.ts';
import { serviceAccountOf } from '../writes/resources.ts';
import { read } from './read.ts';
import type { SnapshotSource } from './snapshot.ts';

interface Standing {
  readonly source: Pick<SnapshotSource, 'reader'>;
  readonly transaction: Transaction;
  readonly index: number;
}

// A target waits until the API server serves its kind: then the CustomResourceDefinition that an earlier change created is read.
export async function readDefinition(
  { source, transaction, index }: Standing,
  entry: SnapshotEntry,
): Promise<{ readonly definition?: JsonObject }> {
  const { plural, group } = entry.resource;
  const name = `${plural}.${group}`;
  const by = transaction.changes
    .slice(0, index)
    .findIndex(({ type, target }) => type === 'Create' && target.kind === 'CustomResourceDefinition' && target.name === name);
  const change = transaction.changes[by];
  if (change === undefined) return {};
  const resource = {
    group: 'apiextensions.k8s.io',
    version: 'v1',
    plural: 'customresourcedefinitions',
    kind: 'CustomResourceDefinition',
    namespaced: false,
    verbs: [],
    statusSubresource: true,
  };
  const found = await read(source.reader, { resource, name }, serviceAccountOf(transaction));
  return found.kind === 'present' ? { definition: found.object } : {};
}
