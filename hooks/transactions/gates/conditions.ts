// Conditions and phases of a status, and how they are said. What another program wrote is repeated only where it looks like what it
// should be; of a sealed object nothing else than that.
import { at, isList, isObject, type JsonObject, textAt } from '../../objects/json.ts';
import { foreign } from '../../objects/words.ts';
import type { Seen } from './verdict.ts';

/** In their order, which some rules of kinds ask for. */
export function conditionsOf(object: JsonObject): readonly JsonObject[] {
  const found = at(object, 'status', 'conditions');
  return isList(found) ? found.filter(isObject) : [];
}

/** The condition of that type in the status of an object. */
export function conditionOf(object: JsonObject | undefined, type: string): JsonObject | undefined {
  return object === undefined ? undefined : conditionsOf(object).find((one) => textAt(one, 'type') === type);
}

export function hasStatus(condition: JsonObject | undefined, status: string): boolean {
  return textAt(condition, 'status') === status;
}

const statuses: readonly string[] = ['True', 'False', 'Unknown'];
const longestMessage = 150;

/** `condition Ready is False: IssuerNotReady: the issuer …`; the message only where it may be shown. */
export function conditionWords(seen: Seen, type: string): string {
  const condition = conditionOf(seen.live, type);
  if (condition === undefined) return `condition ${type} is not set`;
  const status = textAt(condition, 'status') ?? '';
  if (status === 'True') return withReason(`condition ${type} is True`, reasonAt(condition, 'reason'));
  const said = statuses.includes(status) ? `is ${status}` : 'is neither True nor False';
  return withMessage(seen, withReason(`condition ${type} ${said}`, reasonAt(condition, 'reason')), condition);
}

/** The same of a condition that means trouble where it is True. */
export function troubleWords(seen: Seen, type: string): string {
  const condition = conditionOf(seen.live, type);
  return hasStatus(condition, 'True') ? withMessage(seen, conditionWords(seen, type), condition) : conditionWords(seen, type);
}

function withMessage({ sealed }: Seen, words: string, condition: JsonObject | undefined): string {
  const message = sealed ? '' : foreign(textAt(condition, 'message') ?? '', longestMessage);
  return message === '' ? words : `${words}: ${message}`;
}

export function withReason(words: string, reason: string | undefined): string {
  return reason === undefined ? words : `${words}: ${reason}`;
}

// Source: apimachinery, metav1.Condition.Reason; shorter, since a text without blanks can hold anything.
const reasonForm = /^[A-Za-z][A-Za-z0-9_,:]{0,62}$/;

/** A reason, or a phase, where it looks like one. */
export function reasonAt(object: JsonObject | undefined, ...path: readonly string[]): string | undefined {
  const found = textAt(object, ...path);
  return found !== undefined && reasonForm.test(found) ? found : undefined;
}

export function phaseWords({ live }: Seen): string {
  const phase = reasonAt(live, 'status', 'phase');
  return phase === undefined ? 'status.phase is not set' : `phase is ${phase}`;
}
