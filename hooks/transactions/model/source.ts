// The object from which the engine reads the content of a change, if the spec does not hold it.

import { at, type Json, textAt } from '../../objects/json.ts';
import type { Change } from './change.ts';

/** One key of an object in the Transaction's namespace. */
export interface Source {
  readonly kind: 'ConfigMap' | 'Secret';
  readonly name: string;
  readonly key: string;
  /** `sha256:` and the hexadecimal SHA-256 of the unpacked bytes, if they are bound to one. */
  readonly digest?: string;
}

const kinds = [
  ['configMapKeyRef', 'ConfigMap'],
  ['secretKeyRef', 'Secret'],
] as const;

/** Undefined if the change has no source, or a source that the checks refuse. */
export function sourceOf({ contentFrom }: Pick<Change, 'contentFrom'>): Source | undefined {
  const [found] = kinds.flatMap(([member, kind]) => sourceIn(at(contentFrom, member), kind));
  const digest = textAt(contentFrom, 'digest');
  return found === undefined || digest === undefined ? found : { ...found, digest };
}

function sourceIn(reference: Json | undefined, kind: Source['kind']): readonly Source[] {
  const [name, key] = [textAt(reference, 'name'), textAt(reference, 'key')];
  return name === undefined || key === undefined ? [] : [{ kind, name, key }];
}

/** Whether the engine must not show any value that the change writes. */
export function isFromSecret(change: Pick<Change, 'contentFrom'> | undefined): boolean {
  return change !== undefined && sourceOf(change)?.kind === 'Secret';
}
