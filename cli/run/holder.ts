// A command that follows a Transaction says how far the Transaction is that holds the lock it waits for, as far as the user may read it.
import { readLocks } from '../cluster/locks.ts';
import type { Session } from '../cluster/session.ts';
import { findTransaction } from '../cluster/transactions.ts';
import { phaseWords } from '../show/tree.ts';
import { type ChangeView, type TransactionView, viewOf } from '../show/view.ts';

interface Waiting {
  readonly session: Session;
  readonly engineNamespace: string;
  /** The last state that was shown. */
  viewed(): TransactionView | undefined;
  say(sentence: string): void;
}

/** ms between two reads of the holder. */
const interval = 2_000;

/** Returns a function that ends it. */
export function noteHolder({ session, engineNamespace, viewed, say }: Waiting): () => void {
  let [isReading, isOver] = [false, false];
  const readHolder = async (): Promise<void> => {
    const view = viewed();
    if (isReading || view === undefined || !mayWait(view)) return;
    isReading = true;
    const sentence = await holding(session, view, engineNamespace).catch(() => undefined);
    isReading = false;
    if (!isOver && sentence !== undefined && viewed()?.message === view.message) say(sentence);
  };
  const timer = setInterval(readHolder, interval);
  return () => {
    isOver = true;
    clearInterval(timer);
  };
}

/** Only in these phases does a Transaction wait for locks: before its first write, and before a requested undo. */
const mayWait = ({ phase, startTime, finished }: TransactionView): boolean =>
  !finished && startTime !== undefined && ['Pending', 'Committed'].includes(phase);

/** `svc-2 holds ConfigMap x: committing 14/14`. Undefined if no other Transaction holds a target, or the user may not read it. */
export async function holding(session: Session, view: TransactionView, engineNamespace: string): Promise<string | undefined> {
  if (!mayWait(view)) return undefined;
  const found = await readLocks(session, engineNamespace);
  if (found.kind === 'failed') return undefined;
  const held = found.locks.filter(({ holderUid }) => holderUid !== view.uid);
  for (const change of view.changes) {
    const lock = held.find(({ target }) => isOf(change, target, view.namespace));
    if (lock !== undefined) return await progressOfHolder(session, lock.holder, { change, own: view.namespace });
  }
  return undefined;
}

/** `target`: as a lock names it, `Deployment shop/web`, or with the group of a custom kind, `Widget.acme.test shop/w`. */
function isOf({ kind, name }: ChangeView, target: string, own: string): boolean {
  // Names of Roles may hold blanks.
  const blank = target.indexOf(' ');
  const [kindOfTarget, nameOfTarget] = [target.slice(0, blank), target.slice(blank + 1)];
  return kindOfTarget.split('.')[0] === kind && (nameOfTarget === name || nameOfTarget === `${own}/${name}`);
}

interface Held {
  readonly change: ChangeView;
  /** The namespace of the Transaction that waits. */
  readonly own: string;
}

async function progressOfHolder(session: Session, holder: string, { change, own }: Held): Promise<string | undefined> {
  const [namespace = '', name = ''] = holder.split('/');
  const object = await findTransaction(session, { namespace, name });
  if (object === undefined) return undefined;
  const { phase, done } = viewOf(object);
  const shown = namespace === own ? name : holder;
  return `${shown} holds ${change.kind} ${change.name}: ${phaseWords(phase)} ${done}`.trimEnd();
}
