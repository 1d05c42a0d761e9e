// Whether an object is ready, not yet, or will not become ready any more: a function of one look, for whoever waits.

import { at, isList, textAt } from '../../objects/json.ts';
import { foreign } from '../../objects/words.ts';
import { longestFound } from '../model/gate.ts';
import { behindWords, evidenceOf, withoutEvidence } from './evidence.ts';
import { answerOf } from './explicit.ts';
import type { Finding, Look } from './finding.ts';
import { ruleOfKind } from './kinds.ts';
import { failed, notYet, ready, readyWithEvidence, type Seen, type Verdict } from './verdict.ts';

const words = {
  gone: 'it is gone',
  there: 'it is still there',
  terminating: 'it is being deleted',
  replaced: 'it was replaced by another object of the same name',
} as const;

/** What the look comes to. Equal objects give equal words. */
export function evaluateGate(look: Look): Finding {
  const finding = look.type === 'Delete' ? deleted(look) : standing(look);
  return { ...finding, found: foreign(finding.found, longestFound) };
}

function standing(look: Look): Finding {
  const { live } = look;
  if (live === undefined) return { kind: 'failed', found: words.gone, reason: 'Gone' };
  if (isReplaced(look)) return { kind: 'failed', found: words.replaced, reason: 'Replaced' };
  const isTerminating = at(live, 'metadata', 'deletionTimestamp') !== undefined;
  if (isTerminating) return { kind: 'failed', found: words.terminating, reason: 'Terminating' };
  const seen = { ...look, live };
  return failure(seen) ?? counted(seen, readiness(seen));
}

function isReplaced({ live, uid }: Look): boolean {
  return uid !== undefined && textAt(live, 'metadata', 'uid') !== uid;
}

function deleted(look: Look): Finding {
  const { live } = look;
  if (live === undefined) return { kind: 'ready', found: words.gone };
  if (isReplaced(look)) return { kind: 'ready', found: words.replaced };
  const seen = { ...look, live };
  return failure(seen) ?? { kind: 'notYet', found: remaining(seen) };
}

function remaining({ live, sealed }: Seen): string {
  if (at(live, 'metadata', 'deletionTimestamp') === undefined) return words.there;
  const finalizers = at(live, 'metadata', 'finalizers');
  if (sealed || !isList(finalizers) || finalizers.length === 0) return words.terminating;
  return `${words.terminating} and waits for finalizers: ${finalizers.join(', ')}`;
}

/** What the gate's own `failed` comes to, where that decides. */
function failure(seen: Seen): Finding | undefined {
  const answer = answerOf(seen, 'failed');
  if (answer === undefined || answer.kind === 'no') return undefined;
  if (answer.kind === 'broken') return { kind: 'failed', found: answer.found };
  return counted(seen, failed(answer.found, answer.condition));
}

function readiness(seen: Seen): Verdict {
  const answer = answerOf(seen, 'ready');
  if (answer === undefined) return ruleOfKind(seen);
  if (answer.kind === 'yes') return readyWithEvidence(answer.found, answer.condition);
  // What cannot be evaluated has nothing to do with what a controller has seen.
  return answer.kind === 'no' ? notYet(answer.found) : { ...ready(answer.found), kind: 'failed' };
}

/** The verdict as it counts at this time. */
function counted(seen: Seen, { kind, found, needsEvidence, condition }: Verdict): Finding {
  if (!needsEvidence) return { kind, found };
  const evidence = evidenceOf(seen, condition);
  if (evidence.kind === 'behind') return { kind: 'notYet', found: `${found}, but ${behindWords(seen, evidence.observed)}` };
  if (evidence.kind === 'seen' || seen.age >= withoutEvidence) return { kind, found };
  return { kind: 'notYet', found: `${found}, but nothing shows yet that a controller has seen the change` };
}
