// When a Transaction is to be called for again.

/**
 * `none`: nothing is due that time brings. `now`: at once, in another call. `backoff`: transient trouble; the pause grows with each
 * try, which this process counts, so that it is not decided but found at the reply. `refusal`: after a moment it is tried again whether the
 * API server refuses the same once more; the process remembers since when it does.
 */
export type Wait = 'none' | 'now' | 'backoff' | 'refusal' | { readonly seconds: number };
