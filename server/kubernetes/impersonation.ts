// The identity of a request. The engine impersonates only the user, because the API server adds the groups of a ServiceAccount.
import type { Identity } from '../../hooks/objects/cluster.ts';

const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const subdomain = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/;

/**
 * The headers that make a request run as `identity`. Undefined if no such ServiceAccount can exist: a namespace or name outside
 * DNS-1123 (with a colon or a line break) could become another user's name or another header.
 */
export function impersonationHeaders(identity: Identity): Readonly<Record<string, string>> | undefined {
  if (identity.kind === 'engine') return {};
  if (!label.test(identity.namespace) || !subdomain.test(identity.name)) return undefined;
  return { 'impersonate-user': `system:serviceaccount:${identity.namespace}:${identity.name}` };
}
