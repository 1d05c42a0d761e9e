// Limits the wait for work that cannot be ended: a caller does not wait beyond the time of its call.

/** The result of the work. Rejects with `late` when the signal is aborted. */
export function orLate<Result>(work: Promise<Result>, signal: AbortSignal, late: () => Error): Promise<Result> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(late());
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
