// How a story may end once somebody has taken from it what an undo stands on: as it does without him, or with SnapshotBroken. What
// it then says of its objects must be so, and of each it is one or the other: as before, or as spec says.
import { at, type JsonObject, textAt } from '../../../hooks/model/json.ts';
import { type Evidence, endOf, itemsOf, type Target, targetsOf } from '../evidence.ts';
import { hasContent, isAsBefore, patchesAreTrue, violations } from '../invariants.ts';
import { appliedContent } from './stories.ts';

const aboutTheEnd = /^I1 outcome|^I15 /;

export function asWithoutHim(evidence: Evidence, calls: number): readonly string[] {
  const most = 2 * calls + 20;
  const made = evidence.portCalls.length;
  return [...violations(evidence), ...(made > most ? [`${made} requests, without him ${calls}`] : [])];
}

export function brokenOrNot(evidence: Evidence, isOvertaken = false): readonly string[] {
  const all = violations(evidence);
  if (!all.some((text) => aboutTheEnd.test(text))) return all;
  const rest = all.filter((text) => !aboutTheEnd.test(text));
  const ends = [...evidence.ends].flatMap(([key, status]) => [
    ...(isOvertaken ? [] : phaseIsRight(evidence, key, status)),
    ...itemsAreTrue(evidence, key, status),
  ]);
  return [...rest, ...ends];
}

function phaseOf(status: JsonObject | undefined): string {
  return textAt(status, 'phase') ?? 'gone';
}

function phaseIsRight(evidence: Evidence, transaction: string, status: JsonObject | undefined): readonly string[] {
  const phase = phaseOf(status);
  if (phase === endOf(evidence, transaction) || isRefusal(phase, status)) return [];
  return [`${transaction} ends as ${phase}, not as Failed by SnapshotBroken: ${textAt(status, 'message') ?? ''}`];
}

function itemsAreTrue(evidence: Evidence, transaction: string, status: JsonObject | undefined): readonly string[] {
  const phase = phaseOf(status);
  if (evidence.story.isShared === true) return patchesAreTrue(evidence);
  return targetsOf(evidence, transaction).flatMap((target, index) => {
    const isLeft = phase === 'gone' || itemsOf(status)[index]?.left === true;
    return isTrue(evidence, target, isLeft ? 'left' : phase);
  });
}

/**
 * What has lost its snapshot is not undone: it fails, or a request to undo what is Committed has no effect. Where nothing was applied
 * yet it is rolled back, and every object is as before.
 */
function isRefusal(phase: string, status: JsonObject | undefined): boolean {
  if (phase === 'Committed') return Object.keys(at(status, 'handledAnnotations') ?? {}).length > 0;
  return ['Failed', 'RolledBack'].includes(phase) && JSON.stringify(status ?? {}).includes('SnapshotBroken');
}

function isTrue(evidence: Evidence, target: Target, phase: string): readonly string[] {
  const applied = hasContent(evidence, target, appliedContent(evidence.story, evidence.names).get(target.name));
  const before = isStill(evidence, target);
  if (phase === 'Committed') return applied;
  if (phase !== 'left' || before.length === 0) return before;
  return applied.length === 0 ? [] : [...before, ...applied];
}

/** What others did to it in the story has come to stay. */
function isStill(evidence: Evidence, target: Target): readonly string[] {
  const { story, names } = evidence;
  const content = story.end === 'Committed' ? undefined : story.content?.(names);
  const before = isAsBefore(evidence, target);
  // It may all be over before they come to do it.
  if (before.length === 0 || content?.has(target.name) !== true) return before;
  return hasContent(evidence, target, content.get(target.name));
}
