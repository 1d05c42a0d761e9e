// When a Transaction is to be called for again.

/**
 * `none`: time alone makes nothing due. `now`: at once, in another call. `backoff`: transient trouble. The pause grows with each
 * try. This process counts the tries, so the reply finds the pause, not the decision. `refusal`: after a moment, the engine tries
 * whether the API server refuses the request again. The process remembers since when the API server refuses it.
 */
export type Wait = 'none' | 'now' | 'backoff' | 'refusal' | Pause;

export interface Pause {
  readonly seconds: number;
  /** As of `refusal`: the process remembers since when it waits so. */
  readonly isRefusal?: true;
}
