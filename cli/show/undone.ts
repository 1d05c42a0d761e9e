// What rollbacks have undone, in words. Pure.
import { undoneBy } from '../../hooks/transactions/model/rollback.ts';
import type { RollbackView, TransactionView } from './view.ts';

const mostNamed = 3;

/** `v30, v29, v28 and 22 more`. */
export function namesOf(names: readonly string[]): string {
  const more = names.length > mostNamed ? ` and ${names.length - mostNamed} more` : '';
  return `${names.slice(0, mostNamed).join(', ')}${more}`;
}

/** The names of the rollbacks that have undone Transactions, by the uids of these Transactions. */
export function rollbacksOf(views: readonly TransactionView[]): ReadonlyMap<string, string> {
  const committed = views.flatMap(({ uid, name, phase, rollback }) =>
    phase === 'Committed' && rollback !== undefined ? [{ uid, name, undoes: uidsOf(rollback) }] : [],
  );
  return new Map([...undoneBy(committed)].map(([uid, { name }]) => [uid, name]));
}

function uidsOf({ undone }: RollbackView): ReadonlySet<string> {
  return new Set(undone.map(({ uid }) => uid));
}

/** The names of the Transactions that a rollback undoes, the newest first; none for any other Transaction. */
export function undoesOf({ rollback }: Pick<TransactionView, 'rollback'>): readonly string[] {
  return rollback?.undone.map(({ name }) => name) ?? [];
}

interface Undoing {
  readonly phase: string;
  /** undoesOf */
  readonly undoes?: readonly string[];
  /** The name of the rollback that has undone it. */
  readonly undoneBy?: string | undefined;
}

/** `undid v7, v6`, `v7, v6 are there again`, `undone by shop-x7k2p`. Empty if there is nothing to say. */
export function undoneNote({ phase, undoes = [], undoneBy: by }: Undoing): string {
  const are = undoes.length === 1 ? 'is' : 'are';
  const deeds: Readonly<Record<string, string>> = {
    Committed: `undid ${namesOf(undoes)}`,
    RolledBack: `${namesOf(undoes)} ${are} there again`,
  };
  const parts = [undoes.length === 0 ? '' : (deeds[phase] ?? ''), by === undefined ? '' : `undone by ${by}`];
  return parts.filter((part) => part !== '').join('; ');
}
