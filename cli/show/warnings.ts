// What the API server has warned of, and what the engine notes: each text once, with the objects that it is about. Pure.
import type { Warnings } from '../../hooks/objects/cluster.ts';
import { clean } from '../../hooks/objects/words.ts';
import type { TransactionView } from './view.ts';
import { amount } from './words.ts';

interface Warned {
  /** `Deployment web`. */
  readonly object: string;
  readonly warnings?: Warnings;
}

/** Lines at most, and objects at most that one line names. */
const most = { lines: 20, objects: 3 } as const;

/** What the engine notes about the undo of the changes. */
export function notesIn({ changes }: Pick<TransactionView, 'changes'>): readonly string[] {
  return noteLines(
    changes.map(({ kind, name, state, remark }) => ({
      object: `${kind} ${name}`,
      text: state === 'Restored' ? remark : undefined,
    })),
  );
}

interface Noted {
  readonly object: string;
  readonly text?: string | undefined;
}

/** Each note once, with the objects that it is about. */
export function noteLines(notes: readonly Noted[]): readonly string[] {
  return bounded('Note', onceEach(notes.flatMap(({ object, text }) => (text === undefined ? [] : [{ object, text }]))));
}

function onceEach(said: readonly Required<Noted>[]): readonly string[] {
  return [...Map.groupBy(said, ({ text }) => text)].map(
    ([text, about]) => `${text} (${named(about.map(({ object }) => object))})`,
  );
}

function bounded(label: string, lines: readonly string[]): readonly string[] {
  const rest = lines.length - most.lines;
  const shown = lines.slice(0, most.lines).map((line) => `${label.padEnd(12)} ${clean(line)}`);
  return rest > 0 ? [...shown, `${label.padEnd(12)} and ${rest} more lines; -o json has all`] : shown;
}

/** Of the changes of a Transaction. */
export function warningsIn({ changes }: Pick<TransactionView, 'changes'>): readonly string[] {
  return warningLines(changes.map(({ kind, name, warnings }) => ({ object: `${kind} ${name}`, ...(warnings && { warnings }) })));
}

export function warningLines(changes: readonly Warned[]): readonly string[] {
  const warned = changes.flatMap(({ object, warnings }) => (warnings === undefined ? [] : [{ object, warnings }]));
  const said = warned.flatMap(({ object, warnings: { texts = [] } }) => texts.map((text) => ({ object, text })));
  const untold = warned.flatMap(({ object, warnings: { count, texts = [] } }) => {
    const number = count - texts.length;
    return number <= 0 ? [] : [`${amount(number, texts.length === 0 ? 'warning' : 'more warning')} about ${object}, not shown`];
  });
  return bounded('Warning', [...onceEach(said), ...untold]);
}

function named(objects: readonly string[]): string {
  const rest = objects.length - most.objects;
  return `${objects.slice(0, most.objects).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}
