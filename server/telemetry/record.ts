// Records a step: as a log line, as audit lines, in metrics, and as Events.
//
// 1. Messages are constant; variable values are in fields. Neither contains content of objects.
// 2. If a report cannot be recorded, the hook logs the error, and the call does not fail.
import type { FastifyBaseLogger } from 'fastify';
import type { AuditLine, StepReport } from '../../hooks/transactions/call.ts';
import type { TransactionEvent } from './events.ts';
import type { Metrics } from './metrics.ts';

export type RecordEvent = (event: TransactionEvent) => void;

interface RecordParts {
  readonly log: FastifyBaseLogger;
  readonly metrics: Metrics;
  readonly recordEvent: RecordEvent;
}

export function createRecord({ log, metrics, recordEvent }: RecordParts): (report: StepReport) => void {
  return (report) => {
    try {
      log.info(stepFields(report), 'step');
      if (report.thrown !== undefined)
        log.error(
          { ...stepFields(report), invariant: report.invariant, ...errorFields(report.thrown) },
          'step failed: internal error',
        );
      for (const line of report.audit) log.info(auditFields(report, line), 'target write');
      for (const event of eventsOf(report)) recordEvent(event);
      metrics.record(report);
    } catch (error) {
      log.error(errorFields(error), 'recording a step failed');
    }
  };
}

function eventsOf({ namespace, name, uid, at, version, events }: StepReport): readonly TransactionEvent[] {
  return events.map((event, index) => ({ ...event, namespace, name, uid, at, position: [version, index] }));
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

/** An error for the log: its name and stack frames. Its message is left out, because it may quote content. */
export function errorFields(error: unknown): { readonly error: string; readonly at: readonly string[] } {
  if (!(error instanceof Error)) return { error: typeof error, at: [] };
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return { error: error.name, at: frames.slice(0, 12).map((line) => line.trim()) };
}
