// The token of the hooks that tests start, a new one for each run.
import { randomBytes } from 'node:crypto';
import type { Access } from '../../server/access/guard.ts';

export const hookToken = randomBytes(24).toString('hex');

/** Accepts callers with the token. */
export const byToken: Access = { acceptsToken: (token) => token === hookToken, tls: undefined };

/** Accepts everybody, as with --insecure. */
export const anybody: Access = { acceptsToken: undefined, tls: undefined };

/** The headers that a call needs. */
export const callHeaders = { 'content-type': 'application/json', authorization: `Bearer ${hookToken}` } as const;
