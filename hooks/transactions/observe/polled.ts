// Counts the Transactions of a namespace whose gates this process polls: many of them poll more rarely, so that their calls leave
// Metacontroller's workers to others.

/** ms after its last poll in which a Transaction counts: longer than between two polls. */
const counted = 120_000;

export interface OpenGateCounts {
  /** Counts this poll; returns how many Transactions of the namespace poll. */
  add(namespace: string, uid: string): number;
  forget(uid: string): void;
}

export function createPolled(clock: { monotonic(): number }): OpenGateCounts {
  /** When each Transaction polled last, the longest ago first. */
  const namespaces = new Map<string, Map<string, number>>();
  return {
    add(namespace, uid) {
      const own = namespaces.get(namespace) ?? new Map<string, number>();
      namespaces.set(namespace, own);
      own.delete(uid);
      own.set(uid, clock.monotonic());
      for (const [one, at] of own) {
        if (at > clock.monotonic() - counted) break;
        own.delete(one);
      }
      return own.size;
    },
    forget(uid) {
      for (const [namespace, own] of namespaces) if (own.delete(uid) && own.size === 0) namespaces.delete(namespace);
    },
  };
}
