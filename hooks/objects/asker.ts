/** The Transaction that a task is for: namespaces have their turns one after the other, and so have the Transactions of one. */
export interface Asker {
  readonly namespace: string;
  readonly uid: string;
}
