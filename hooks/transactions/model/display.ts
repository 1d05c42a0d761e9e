// The part of a status that is for people: each change by name and state, the current change, the duration. The engine derives all
// of it from the phase, the stored flags of the items and the spec. The engine decides nothing on it.

import { at, isList, type Json, type JsonObject, textAt } from '../../objects/json.ts';
import { describe, type Reference } from '../../objects/reference.ts';
import { formatDuration } from '../../objects/time.ts';
import { foreign, storedSize } from '../../objects/words.ts';
import { type Item, nextToUndo, type UndoOrder, wasRestored } from './item.ts';
import { isTerminal, type Phase } from './phase.ts';

export type ItemState =
  | 'Waiting'
  | 'Prepared'
  | 'Applying'
  | 'Applied'
  | 'Failed'
  | 'Restoring'
  | 'Restored'
  | 'NotRestored'
  | 'Kept'
  | 'Skipped';

/** The display of one change. A field is absent if the stored status has no value for it. */
interface ItemDisplay {
  readonly target?: string;
  readonly state?: string;
}

const texts = ['current', 'duration', 'waitingUntil'] as const;

export interface Display extends Readonly<Partial<Record<(typeof texts)[number], string>>> {
  readonly items: readonly ItemDisplay[];
}

interface Displayed {
  readonly phase: Phase;
  readonly items: readonly Item[];
  readonly startTime?: number;
  readonly completionTime?: number;
}

/** Of each change. The table is in docs/reference.md. */
export function statesOf({ phase, items }: Displayed, order?: UndoOrder): readonly ItemState[] {
  const next = phase === 'RollingBack' ? nextToUndo(items, 0, order) : -1;
  const isOver = phase === 'RollingBack' || isTerminal(phase);
  return items.map((item, index) => (index === next ? 'Restoring' : stateOf(item, isOver)));
}

/** `isOver`: no further change is sent. */
function stateOf(item: Item, isOver: boolean): ItemState {
  const { progress, error } = item;
  switch (progress.kind) {
    case 'announced':
      return 'Applying';
    case 'applied':
      return 'Applied';
    case 'notRestored':
      return 'NotRestored';
    case 'kept':
      return 'Kept';
    case 'restored':
      return wasRestored(item) ? 'Restored' : stopped(error);
    default:
      return isOver ? stopped(error) : unsent[progress.kind];
  }
}

const unsent = { waiting: 'Waiting', prepared: 'Prepared' } as const;

function stopped(error: Item['error']): ItemState {
  return error === undefined ? 'Skipped' : 'Failed';
}

interface Described {
  readonly namespace: string;
  readonly changes: readonly { readonly target: Reference }[];
  /** The order of an undo, if it is known. */
  readonly order?: UndoOrder | undefined;
}

/** `most`: bytes that the stored text of one target may take. */
export function displayOf(status: Displayed, { namespace, changes, order }: Described, most: number): Display {
  const states = statesOf(status, order);
  const items = states.map((state, index): ItemDisplay => {
    const target = changes[index]?.target;
    return target === undefined ? { state } : { target: within(nameOf(target, namespace), most), state };
  });
  const current = items[inHand(status, states)]?.target;
  return { items, ...(current === undefined ? {} : { current }), ...durationOf(status) };
}

/** The change that is applied or undone next; else the first that is waited for. */
function inHand({ phase, items }: Displayed, states: readonly ItemState[]): number {
  const next = states.indexOf(phase === 'RollingBack' ? 'Restoring' : 'Applying');
  if (next >= 0 || phase !== 'Committing') return next;
  return items.findIndex(({ gate }) => gate !== undefined && gate.passed !== true);
}

function durationOf({ phase, startTime, completionTime }: Displayed): Omit<Display, 'items'> {
  const isEnded = isTerminal(phase) && startTime !== undefined && completionTime !== undefined;
  return isEnded ? { duration: formatDuration(Math.max(0, completionTime - startTime)) } : {};
}

/** `Deployment web-server`; with its namespace only if the Transaction is in another namespace. */
function nameOf({ namespace, ...target }: Reference, own: string): string {
  return describe(namespace === undefined || namespace === own ? target : { ...target, namespace });
}

function within(text: string, most: number): string {
  let found = foreign(text, most);
  while (storedSize(found) > most && found.length > 1) found = foreign(found, Math.floor(found.length * 0.9));
  return found;
}

export function encodeDisplay({ items, ...rest }: Display): JsonObject & { readonly items: readonly JsonObject[] } {
  return { items: items.map((item) => ({ ...item })), ...rest };
}

/** As it is stored, by this version or another. */
export function decodeDisplay(wire: Json | undefined): { readonly display?: Display } {
  const found = isList(at(wire, 'items')) ? (at(wire, 'items') as readonly Json[]) : [];
  const items = found.map((item): ItemDisplay => textsOf(item, ['target', 'state']));
  const rest = textsOf(wire, texts);
  const isBare = items.every((item) => Object.keys(item).length === 0) && Object.keys(rest).length === 0;
  return isBare ? {} : { display: { items, ...rest } };
}

function textsOf<Key extends string>(wire: Json | undefined, keys: readonly Key[]): { readonly [key in Key]?: string } {
  const found = keys.map((key) => [key, textAt(wire, key)] as const).filter(([, value]) => value !== undefined);
  return Object.fromEntries(found) as { readonly [key in Key]?: string };
}
