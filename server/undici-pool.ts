// undici's Pool and request alone: its index also loads fetch, WebSocket, caches and mocks, which are not used here.
import { createRequire } from 'node:module';
import type { Dispatcher, Pool as UndiciPool } from 'undici';

const load = createRequire(import.meta.url);

export type Pool = UndiciPool;
export const Pool = load('undici/lib/dispatcher/pool.js') as typeof UndiciPool;

type Request = (this: Pool, options: Dispatcher.RequestOptions) => Promise<Dispatcher.ResponseData>;
let loaded: Request | undefined;

/** What `pool.request` is where the whole of undici is loaded. */
export function request(pool: Pool, options: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData> {
  loaded ??= load('undici/lib/api/api-request.js') as Request;
  return loaded.call(pool, options);
}
