// The one seam between what a call did and what is told of it: a log line, audit lines, figures, Events.
//
// 1. Messages are constant; what varies stands in fields. Content of objects is in neither.
// 2. Telling never fails a call: whatever goes wrong here is logged and forgotten.
import type { FastifyBaseLogger } from 'fastify';
import type { AuditLine, StepReport } from '../hooks/call.ts';
import type { Sentence } from './kubernetes/events.ts';
import type { Metrics } from './metrics.ts';

/** Takes a sentence of the story. */
export type Tell = (sentence: Sentence) => void;

export interface TelemetryParts {
  readonly log: FastifyBaseLogger;
  readonly metrics: Metrics;
  readonly tell: Tell;
}

export function createRecord({ log, metrics, tell }: TelemetryParts): (report: StepReport) => void {
  return (report) => {
    try {
      log.info(stepFields(report), 'step');
      if (report.thrown !== undefined)
        log.error({ ...stepFields(report), ...errorFields(report.thrown) }, 'a step met a fault of the hook');
      for (const line of report.audit) log.info(auditFields(report, line), 'target write');
      for (const sentence of sentencesOf(report)) tell(sentence);
      metrics.record(report);
    } catch (error) {
      log.error(errorFields(error), 'a report could not be recorded');
    }
  };
}

function sentencesOf({ namespace, name, uid, at, version, events }: StepReport): readonly Sentence[] {
  return events.map((event, index) => ({ ...event, namespace, name, uid, at, place: [version, index] }));
}

function stepFields(report: StepReport) {
  const { namespace, name, uid, step, because, fromPhase, toPhase, item, outcome } = report;
  return { transaction: `${namespace}/${name}`, uid, step, because, fromPhase, toPhase, item, outcome };
}

function auditFields(report: StepReport, line: AuditLine) {
  const { item, verb, resource, target, serviceAccount, outcome } = line;
  const transaction = `${report.namespace}/${report.name}`;
  return { audit: true, transaction, uid: report.uid, item, verb, resource, target, serviceAccount, outcome };
}

/** An error for the log: its kind and where it arose. Its message may quote what it stumbled over, so it stays out. */
export function errorFields(error: unknown): { readonly error: string; readonly at: readonly string[] } {
  if (!(error instanceof Error)) return { error: typeof error, at: [] };
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return { error: error.name, at: frames.slice(0, 12).map((line) => line.trim()) };
}
