// A Transaction as it may be printed: its spec may hold Secrets, and what kubectl has applied last repeats the spec.

import {
  at,
  isDeeperThan,
  isList,
  isObject,
  type Json,
  type JsonObject,
  mostLevels,
  textAt,
  withKey,
  withPath,
} from '../../objects/json.ts';
import type { Change } from '../model/change.ts';
import { decodeTransaction } from '../model/transaction.ts';
import { hidingOf } from './masks.ts';

const hidden = '(hidden)';
const tooDeep = `(nested deeper than ${mostLevels} levels)`;
const lastApplied = ['metadata', 'annotations', 'kubectl.kubernetes.io/last-applied-configuration'];

/** The Transaction without values of Secrets: names of fields stay. */
export function printed(object: JsonObject): JsonObject {
  const { changes } = decodeTransaction(object);
  const written = at(object, 'spec', 'changes');
  const masked = isList(written)
    ? withPath(
        object,
        ['spec', 'changes'],
        written.map((one, at) => maskedIn(shallow(one), changes[at])),
      )
    : object;
  return at(object, ...lastApplied) === undefined ? masked : withPath(masked, lastApplied, hidden);
}

// The API server stores more levels than JSON.stringify takes: one Transaction must not end a list of all.
function shallow(written: Json): Json {
  if (!isObject(written)) return written;
  return Object.fromEntries(Object.entries(written).map(([key, one]) => [key, isDeeperThan(one, mostLevels) ? tooDeep : one]));
}

function maskedIn(written: Json, change: Change | undefined): Json {
  const content = at(written, 'content');
  if (!isObject(written) || content === undefined || change === undefined || !holdsSecret(change)) return written;
  return withKey(written, 'content', maskedContent(content));
}

/** Whether the change holds values of a Secret, by its target or by what its content says that it is. */
function holdsSecret({ target, content }: Change): boolean {
  const said = { apiVersion: textAt(content, 'apiVersion') ?? '', kind: textAt(content, 'kind') ?? '' };
  return content !== undefined && [target, said].some((one) => hidingOf(one, undefined) !== 'nothing');
}

/** Whether what the API server says of the Transaction may quote a value of a Secret. */
export function mayQuoteSecrets(object: JsonObject): boolean {
  return decodeTransaction(object).changes.some(holdsSecret);
}

const identity = [['apiVersion'], ['kind'], ['metadata', 'name'], ['metadata', 'namespace']];

function maskedContent(content: Json): Json {
  const masked = hiddenIn(content);
  if (!isObject(masked)) return masked;
  return identity.reduce((whole, path) => {
    const value = textAt(content, ...path);
    return value === undefined ? whole : withPath(whole, path, value);
  }, masked);
}

function hiddenIn(value: Json): Json {
  if (isList(value)) return value.map(hiddenIn);
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, hiddenIn(one)])) : hidden;
}
