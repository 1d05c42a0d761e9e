// The calls in flight, so that a shutdown can wait for them.

export interface Work {
  /** True once no further call may start. */
  readonly draining: boolean;
  /** Runs one call and counts it while it lasts. */
  run<Result>(task: () => Promise<Result>): Promise<Result>;
  /** Starts to drain; resolves when the last call has ended. */
  drain(): Promise<void>;
}

export function createWork(): Work {
  const running = new Set<Promise<unknown>>();
  let draining = false;
  return {
    get draining() {
      return draining;
    },
    run(task) {
      const result = task();
      const over: Promise<unknown> = result.then(
        () => running.delete(over),
        () => running.delete(over),
      );
      running.add(over);
      return result;
    },
    async drain() {
      draining = true;
      await Promise.all(running);
    },
  };
}
