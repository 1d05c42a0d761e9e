// What goes to the thread and what comes back.
import type { Evaluated } from '../../hooks/model/gate.ts';

/** Without `object` the text is only compiled. It is JSON text: a copy of the value would lose long integers. */
export interface Task {
  readonly text: string;
  readonly object?: string;
}

/** `begun` comes once for each task, when its object is read; then its answer, which is `unset` for a text that was only compiled and can be. */
export type Told = { readonly kind: 'begun' } | { readonly kind: 'done'; readonly answer: Evaluated };
