// Work that cannot be ended: who asked for it does not wait for it beyond the time of his call.

/** The result of the work; rejects with `late` once the signal is aborted. */
export function orLate<Result>(work: Promise<Result>, signal: AbortSignal, late: () => Error): Promise<Result> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(late());
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
