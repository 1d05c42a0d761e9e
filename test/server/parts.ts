// Parts of the web server for its tests: a hook that gives a fixed reply, and everything that was reported.

import { type JsonObject, parseJson } from '../../hooks/objects/json.ts';
import type { Call, Hook, Reply, StepReport } from '../../hooks/transactions/call.ts';
import { type App, type AppParts, buildApp } from '../../server/app.ts';
import { createMetrics } from '../../server/telemetry/metrics.ts';
import type { RecordEvent } from '../../server/telemetry/record.ts';
import { anybody } from '../support/hook-token.ts';

/** No Package makes package transactions. */
export const noOwn = async () => ({ resyncAfterSeconds: 0, finalized: false });

export interface TestApp extends App {
  readonly calls: readonly Call[];
  readonly lines: readonly JsonObject[];
  readonly events: readonly Parameters<RecordEvent>[0][];
}

type TestParts = Partial<AppParts> & {
  readonly hook?: Hook;
  readonly report?: StepReport;
};

export const rest: Extract<Reply, { readonly kind: 'status' }> = {
  kind: 'status',
  status: { phase: 'Committed' },
  children: [],
  resyncAfterSeconds: 0,
  finalized: true,
};

export function testApp({ hook = async () => rest, report, ...parts }: TestParts = {}): TestApp {
  const calls: Call[] = [];
  const lines: JsonObject[] = [];
  const events: Parameters<RecordEvent>[0][] = [];
  const app = buildApp({
    connectHook: (record) => (call) => {
      calls.push(call);
      if (report !== undefined) record(report);
      return hook(call);
    },
    recordEvent: (event) => events.push(event),
    metrics: createMetrics(),
    readiness: () => undefined,
    access: anybody,
    bodyLimit: 1024 * 1024,
    logLevel: 'info',
    logTo: { write: (line) => lines.push(parseJson(line) as JsonObject) },
    ...parts,
  });
  return { ...app, calls, lines, events };
}

export const request = {
  parent: {
    apiVersion: 'tx.janus.io/v1alpha1',
    kind: 'Transaction',
    metadata: { name: 'deploy-v2', namespace: 'shop', uid: '6f1c-01', resourceVersion: '7' },
    status: { phase: 'Prepared' },
  },
};

export const report: StepReport = {
  namespace: 'shop',
  name: 'deploy-v2',
  uid: '6f1c-01',
  step: 'apply',
  because: 'change 1 is next',
  fromPhase: 'Prepared',
  toPhase: 'Committing',
  item: 0,
  outcome: 'done',
  at: Date.UTC(2026, 0, 1),
  foundVersion: 3,
  version: 4,
  stored: {
    fromPhase: 'Prepared',
    toPhase: 'Committing',
    items: [{ operation: 'commit', result: 'success' }],
    gates: [],
    conflicts: [],
  },
  locks: [],
  audit: [
    { item: 0, verb: 'update', resource: 'configmaps', target: 'ConfigMap shop/a', serviceAccount: 'deployer', outcome: 'ok' },
  ],
  events: [{ type: 'Normal', reason: 'Applied', message: 'ConfigMap shop/a is updated' }],
};
