// The task for the thread. The answer to a text that only had to compile is `unset`.

/** Without `object` the text is only compiled. It is JSON text: a copy of the value would lose long integers. */
export interface Task {
  readonly text: string;
  readonly object?: string;
}
