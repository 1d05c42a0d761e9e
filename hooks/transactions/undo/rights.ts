// Whether the ServiceAccount has the rights that an undo needs and no dry run shows.

import type { AccessQuestion } from '../../objects/cluster.ts';
import type { Failure } from '../../objects/failure.ts';
import { equalJson } from '../../objects/json.ts';
import { byName, gapFaults, merged, type Need } from '../checks/permissions.ts';
import { causeOf } from '../decide/refusals.ts';
import type { UndoFinding } from '../model/undo.ts';
import { reviewAccess } from '../observe/access.ts';
import type { SurveyContext, Surveyed } from './surveyed.ts';

/** The findings; a change whose undo lacks a right is blocked. */
export async function withRights(context: SurveyContext, found: readonly Surveyed[]): Promise<readonly Surveyed[]> {
  const { observing, observation } = context;
  const { transaction } = observation;
  const needs = merged(found.flatMap((one) => needsFor(context, one)));
  if (needs.length === 0) return found;
  const access = await reviewAccess({ reader: observing.source.reader, transaction }, needs);
  const account = `${transaction.namespace}/${transaction.serviceAccountName}`;
  return found.map((one): Surveyed => {
    if (one.verbs.length === 0) return one;
    if (access.kind === 'trouble') {
      return { ...one, finding: unreviewed(one.finding, `reviewing the rights of ServiceAccount ${account}`, access.failure) };
    }
    const own = questionsFor(one).map((question) => byName(question, one.entry.target.name) ?? question);
    const gap = access.gaps.find((lacking) => own.some((question) => equalJson({ ...question }, { ...lacking })));
    return gap === undefined
      ? one
      : { ...one, finding: forbidden(one.finding, gapFaults([gap], `ServiceAccount ${account}`)[0]?.message ?? '') };
  });
}

function unreviewed(finding: UndoFinding, what: string, failure: Failure): UndoFinding {
  return failure.kind === 'refused'
    ? forbidden(finding, causeOf(what, failure).message)
    : { ...finding, verdict: 'Undecided', message: `${what} failed (${failure.reason})` };
}

function forbidden(finding: UndoFinding, message: string): UndoFinding {
  return { ...finding, verdict: 'Blocked', reason: 'Forbidden', message };
}

function needsFor(context: SurveyContext, one: Surveyed): readonly Need[] {
  const { index, target, resource } = one.entry;
  const by = [{ index, target, change: changeAt(context, index), resource: { ...resource, verbs: [] } }];
  return questionsFor(one).map((question): Need => ({ question, by, purpose: 'undo' }));
}

function changeAt({ observation }: SurveyContext, index: number) {
  const change = observation.transaction.changes[index];
  if (change === undefined) throw new Error(`there is no change ${index}`);
  return change;
}

function questionsFor({ verbs, entry: { resource, target } }: Surveyed): readonly AccessQuestion[] {
  const place = target.namespace === undefined ? {} : { namespace: target.namespace };
  return verbs.map((verb) => ({ verb, group: resource.group, resource: resource.plural, ...place }));
}
