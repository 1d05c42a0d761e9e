// The resources that the demo must end, however it ends. The one that started last ends first.

export interface Undo {
  add(what: () => Promise<unknown> | undefined): void;
  /** Ends everything; may be called twice. A failure does not stop the others. */
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
