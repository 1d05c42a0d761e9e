// How a story may end once the adversary has destroyed what an undo needs: as without the adversary, or with SnapshotBroken. What
// the status then says of the objects must be true, and each object must be as before or as the spec says.
import { at, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { type Evidence, endOf, itemsOf, type Target, targetsOf } from '../evidence.ts';
import { hasContent, isAsBefore, patchesAreTrue, violations } from '../invariants.ts';
import { appliedContent } from './stories.ts';

const aboutTheEnd = /^I1 outcome|^I14 /;

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

/** Who spoils a source before it is read costs the Transaction all its changes, and decides nothing else. */
export function refusedOrNot(evidence: Evidence): readonly string[] {
  const all = violations(evidence);
  const rest = all.filter((text) => !aboutTheEnd.test(text));
  if (rest.length === all.length) return all;
  const ends = [...evidence.ends].flatMap(([key, status]) => {
    const message = textAt(status, 'message') ?? '';
    const isRefused = phaseOf(status) === 'Failed' && /^nothing was applied: .*contentFrom: /.test(message);
    return isRefused ? itemsAreTrue(evidence, key, status) : [`${key} ends as ${phaseOf(status)}: ${message}`];
  });
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
 * A Transaction without its snapshot is not undone: it fails, or a request to undo a Committed one has no effect. If nothing was
 * applied yet, it is rolled back, and every object is as before.
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

/** Changes of other writers in the story stay. */
function isStill(evidence: Evidence, target: Target): readonly string[] {
  const { story, names } = evidence;
  const content = story.end === 'Committed' ? undefined : story.content?.(names);
  const before = isAsBefore(evidence, target);
  // The Transaction may be over before the others make their change.
  if (before.length === 0 || content?.has(target.name) !== true) return before;
  return hasContent(evidence, target, content.get(target.name));
}
