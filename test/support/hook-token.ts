// The token of the hooks that tests start, another one for each run.
import { randomBytes } from 'node:crypto';
import type { Access } from '../../server/access/guard.ts';

export const hookToken = randomBytes(24).toString('hex');

/** Lets those call who send it. */
export const byToken: Access = { acceptsToken: (token) => token === hookToken, tls: undefined };

/** As with --insecure. */
export const anybody: Access = { acceptsToken: undefined, tls: undefined };

/** What a call must carry. */
export const callHeaders = { 'content-type': 'application/json', authorization: `Bearer ${hookToken}` } as const;
