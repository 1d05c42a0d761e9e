// The valid texts for fields of `spec`. ajv uses them (as `pattern` in transaction-spec.ts), and the API server uses them (as CEL in
// creation-rules.ts). Patterns are valid in RE2 and in JavaScript, and contain no `'`.

export const group = 'tx.janus.io';

const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const subdomain = `${label}(\\.${label})*`;
// The names that the API server accepts as a path segment: neither `.` nor `..`, without `/` and `%`. Here also without control characters.
const segment = String.raw`[^/%\x00-\x1f\x7f]`;
const segmentNoDot = String.raw`[^./%\x00-\x1f\x7f]`;
const amount = (digits: number): string => String.raw`[0-9]{1,${digits}}(\.[0-9]{1,9})?`;

/** Names of field managers whose content an undo deletes with its object. */
export const mostFilledBy = 16;

export const patterns = {
  apiVersion: `^(${subdomain}/)?[a-z]([-a-z0-9]*[a-z0-9])?$`,
  kind: '^[A-Za-z]([-A-Za-z0-9]*[A-Za-z0-9])?$',
  name: `^(${segmentNoDot}${segment}*|\\.${segmentNoDot}${segment}*|\\.\\.${segment}+)$`,
  namespace: `^${label}$`,
  fieldManager: String.raw`^[\x20-\x7e]+$`,
  serviceAccountName: `^${subdomain}$`,
  // More minutes or hours exceed every bound. CEL cannot compare a duration of centuries, and fails.
  duration: `^(${amount(9)}(ns|us|µs|ms|s)|${amount(5)}(m|h))+$`,
} as const;

export interface Duration {
  readonly default: string;
  readonly example: string;
  readonly least: string;
  readonly most: string;
}

export const durations = {
  lockTimeout: { default: '5m', example: '2m30s', least: '30s', most: '1h' },
  lockWait: { default: '1m', example: '2m30s', least: '0s', most: '1h' },
  timeout: { default: '30m', example: '1h30m', least: '1s', most: '24h' },
} as const satisfies Readonly<Record<string, Duration>>;

/** The durations of a gate. The hook checks that `stableFor` is below `timeout`. */
export const gateDurations = {
  timeout: { default: '5m', example: '10m', least: '1s', most: '24h' },
  stableFor: { default: '0s', example: '30s', least: '0s', most: '24h' },
} as const satisfies Readonly<Record<string, Duration>>;

/** The durations of `failFast` of a gate. */
export const failFastDurations = {
  imageAfter: { default: '20s', example: '1m', least: '1s', most: '24h' },
  containerAfter: { default: '1m', example: '2m', least: '1s', most: '24h' },
} as const satisfies Readonly<Record<string, Duration>>;

/** API groups of the programs that run Transactions, with the words for their kinds in messages. */
export const refusedGroups = [
  { name: 'own', group, what: `kinds of ${group}` },
  { name: 'metacontroller', group: 'metacontroller.k8s.io', what: 'Metacontroller, which runs it' },
] as const;

/** The name of a snapshot contains the name of the Transaction: `{name}-rollback`, with room for part of the uid and a number. */
export const longestTransactionName = 230;
