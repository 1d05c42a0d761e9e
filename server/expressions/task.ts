// What goes to the thread; its answer is `unset` for a text that was only compiled and can be.

/** Without `object` the text is only compiled. It is JSON text: a copy of the value would lose long integers. */
export interface Task {
  readonly text: string;
  readonly object?: string;
}
