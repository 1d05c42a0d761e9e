// When a Transaction is to be called for again. Metacontroller makes no further call of its own for `resyncAfterSeconds: 0`; a status
// that changes causes a call in any case.
//
// | wait      | resyncAfterSeconds of the reply                                                          |
// | --------- | ---------------------------------------------------------------------------------------- |
// | none      | 0                                                                                        |
// | now       | 0.001                                                                                    |
// | backoff   | 0.2, doubled with each try up to 30, a quarter more or less; or Retry-After, at most 60  |
// | refusal   | 1                                                                                        |
// | a pause   | its seconds                                                                              |
//
// A reply of the kind `retry` stores nothing: it is an HTTP 429 with Retry-After, and Metacontroller calls again after that time.

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
