// What must be ended when the demo ends, however it ends: last begun, first ended.

export interface Undo {
  add(what: () => Promise<unknown> | undefined): void;
  /** Ends everything; may be called twice. What cannot be ended does not keep the rest from it. */
  run(): Promise<void>;
}

export function createUndo(): Undo {
  const begun: (() => Promise<unknown> | undefined)[] = [];
  return {
    add: (what) => void begun.push(what),
    async run() {
      for (let end = begun.pop(); end !== undefined; end = begun.pop()) {
        await Promise.resolve()
          .then(end)
          .catch((error: unknown) => process.stderr.write(`could not clean up: ${String(error)}\n`));
      }
    },
  };
}
