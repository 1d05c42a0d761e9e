// What manifests/monitoring ships, as the tests need it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { type Ran, ran } from '../support/program.ts';
import { buildPrometheus, type PrometheusBinaries } from '../tools/prometheus/prometheus.ts';

export interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<'summary' | 'description' | 'runbook_url', string>>;
}

export interface Groups {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Alert[] }[];
}

const root = join(import.meta.dirname, '..', '..');

export function readShipped(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** The rules as Prometheus itself reads them. */
export function shippedRules(path = 'manifests/monitoring/rules.yaml'): Groups {
  const { spec } = parse(readShipped(path)) as { readonly spec: Groups };
  return spec;
}

export function shippedAlerts(): readonly Alert[] {
  return shippedRules().groups.flatMap(({ rules }) => rules);
}

/** Every query of the dashboard; what Grafana fills in is filled in. */
export function dashboardQueries(): readonly string[] {
  const { panels } = JSON.parse(readShipped('manifests/monitoring/dashboard.json')) as {
    readonly panels: readonly { readonly targets?: readonly { readonly expr: string }[] }[];
  };
  return panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr.replaceAll('$__rate_interval', '5m')));
}

/** The metrics that a query names. */
export function metricsIn(query: string): readonly string[] {
  return [...new Set(query.match(/\b(?:janus|process|nodejs)_[a-z0-9_]+/g))];
}

/** The built binaries; `npm test` has built them before it came to a test. */
export function prometheus(): Promise<PrometheusBinaries> {
  return buildPrometheus((line) => process.stderr.write(`${line}\n`));
}

export const promtool = async (args: readonly string[], input = ''): Promise<Ran> =>
  ran((await prometheus()).promtool, args, input);
