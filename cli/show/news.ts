// The differences between two states of a Transaction, one line for each. Pipes and logs need them: they cannot be redrawn.
import type { ChangeView, TransactionView } from './view.ts';

/** No lines if no relevant field has changed. `before` is undefined at the first state. */
export function newsOf(now: TransactionView, before: TransactionView | undefined): readonly string[] {
  const head = `${now.phase} ${now.done}`.trim();
  const moved = now.changes.flatMap((change, index) => {
    const text = moveOf(change, before?.changes[index]);
    return text === '' ? [] : [`${head} ${text}`];
  });
  const hasNewMessage = before === undefined || now.phase !== before.phase || now.message !== before.message;
  return [...moved, ...(hasNewMessage ? [`${head} ${now.message}`] : [])];
}

const silent = ['Waiting', 'Prepared'];

function moveOf(now: ChangeView, before: ChangeView | undefined): string {
  const isNews = now.state !== (before?.state ?? 'Waiting') || now.note !== before?.note;
  if (!isNews || (silent.includes(now.state) && now.note === undefined)) return '';
  const why = now.error === undefined ? (now.note ?? '') : `${now.error.reason}: ${now.error.message}`;
  return `${now.kind} ${now.name} ${now.state}${why === '' ? '' : `: ${why}`}`;
}
