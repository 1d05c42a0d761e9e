// What an apply took from other field managers, or would take. Pure.
import { clean } from '../../hooks/objects/words.ts';
import type { Counted } from '../../hooks/transactions/model/item.ts';
import { amount } from './words.ts';

interface Taking {
  readonly kind: string;
  readonly name: string;
  readonly took?: Counted;
}

const mostShown = 10;

/** `took 1 field: Deployment api image "1.4-hotfix" (kubectl-set)`; empty if it took nothing. */
export function tookWords(verb: 'took' | 'takes', changes: readonly Taking[]): string {
  const all = changes.reduce((sum, { took }) => sum + (took?.count ?? 0), 0);
  if (all === 0) return '';
  const named = changes.flatMap(({ kind, name, took }) => {
    const texts = took === undefined || took.count === 0 ? [] : (took.texts ?? ['']);
    return texts.map((text) => clean(`${kind} ${name} ${text}`.trim()));
  });
  const shown = named.slice(0, mostShown);
  const rest = all - shown.length;
  return `${verb} ${amount(all, 'field')}: ${shown.join(', ')}${rest > 0 ? `, and ${rest} more` : ''}`;
}
