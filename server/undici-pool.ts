// undici's Pool alone: its index also loads fetch, WebSocket, caches and mocks, which are not used here.
import { createRequire } from 'node:module';
import type { Pool as UndiciPool } from 'undici';

export type Pool = UndiciPool;
export const Pool = createRequire(import.meta.url)('undici/lib/dispatcher/pool.js') as typeof UndiciPool;
