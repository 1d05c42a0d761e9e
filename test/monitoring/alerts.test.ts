// The alerts, with that of docs/notifications.md, by promtool: they are well made, each fires when it shall and stays silent when it shall not, and each has its
// section in the runbooks. The dashboard asks for nothing that is not there.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { stringify } from 'yaml';
import { createMetrics } from '../../server/telemetry/metrics.ts';
import { type Alert, dashboardQueries, metricsIn, promtool, readShipped, shippedAlerts, shippedRules } from './shipped.ts';

const example = shippedRules('examples/notifications/rules.yaml');
const groups = [...shippedRules().groups, ...example.groups];
const alerts = groups.flatMap((group) => group.rules);
const directory = t.testdir({});
const rules = join(directory, 'rules.yaml');
writeFileSync(rules, stringify({ groups }));

interface Case {
  readonly alert: string;
  readonly reason: string;
  /** Series and their values, one a minute, in promtool's notation. */
  readonly series: Readonly<Record<string, string>>;
  readonly at: string;
  /** Labels of the alert that fires, `severity` aside; none fires without. */
  readonly fires?: Readonly<Record<string, string>>;
}

const oldest = (instance: string): string => `janus_transaction_oldest_active_seconds{phase="Committing",instance="${instance}"}`;
const lock = (instance: string): string => `janus_lock_oldest_seconds{instance="${instance}"}`;
const left = (instance: string): string => `janus_transactions_unrestored{reason="RollbackConflict",instance="${instance}"}`;
const failures = (from: string): string => `janus_transaction_phase_transitions_total{from_phase="${from}",to_phase="Failed"}`;
const ends = (to: string): string => `janus_transaction_phase_transitions_total{from_phase="x",to_phase="${to}"}`;
const requests = (code: string): string => `janus_hook_requests_total{path="/sync",code="${code}",instance="a"}`;
const active = (instance: string): string => `janus_transactions_active{phase="Committing",instance="${instance}"}`;
const tries = (reason: string): string => `janus_package_tries_total{outcome="Failed",reason="${reason}",instance="a"}`;
const oldestPackage = (phase: string): string => `janus_package_oldest_active_seconds{phase="${phase}",instance="a"}`;
const own = (state: string, instance: string): string => `janus_own_packages{state="${state}",instance="${instance}"}`;
const oldestDeletion = 'janus_own_package_oldest_deletion_seconds{instance="a"}';
const scrapeErrors = 'janus_scrape_errors_total{source="transactions",instance="a"}';

const cases: readonly Case[] = [
  {
    alert: 'JanusTransactionStuck',
    reason: 'one is older than all timeouts, reported once for two replicas',
    series: { [oldest('a')]: '3000+60x40', [oldest('b')]: '3000+60x40' },
    at: '25m',
    fires: { phase: 'Committing' },
  },
  { alert: 'JanusTransactionStuck', reason: 'long ones end in time', series: { [oldest('a')]: '3000+60x14 0x20' }, at: '25m' },
  {
    alert: 'JanusTransactionStuck',
    reason: 'its gate was open for hours, passed, and the rest was applied',
    series: { [oldest('a')]: '0x240 14400+60x3 0x20' },
    at: '4h4m',
  },
  {
    alert: 'JanusTransactionStuck',
    reason: 'its gate was open for hours, and does not end',
    series: { [oldest('a')]: '0x240 14400+60x20' },
    at: '4h10m',
    fires: { phase: 'Committing' },
  },
  {
    alert: 'JanusRollbackConflict',
    reason: 'something is left',
    series: { [left('a')]: '1x10', [left('b')]: '1x10' },
    at: '5m',
    fires: { reason: 'RollbackConflict' },
  },
  { alert: 'JanusRollbackConflict', reason: 'it was put right', series: { [left('a')]: '1 1 1 _ stale' }, at: '10m' },
  {
    alert: 'JanusTransactionFailed',
    reason: 'the first one of a replica',
    series: { [failures('Pending')]: '0x5 1x10' },
    at: '10m',
    fires: {},
  },
  { alert: 'JanusTransactionFailed', reason: 'long ago', series: { [failures('RollingBack')]: '0x5 1x60' }, at: '50m' },
  {
    alert: 'JanusTransactionFailed',
    reason: 'a replica was restarted',
    series: { [failures('Pending')]: '3x5 0x20' },
    at: '20m',
  },
  {
    alert: 'JanusTransactionEnded',
    reason: 'one was rolled back',
    series: { [ends('RolledBack')]: '0x5 1x10', [ends('Failed')]: '0x5 1x10', [ends('Committed')]: '7x15' },
    at: '7m',
    fires: { to_phase: 'RolledBack' },
  },
  { alert: 'JanusTransactionEnded', reason: 'long ago', series: { [ends('Committed')]: '0x5 1x30' }, at: '20m' },
  { alert: 'JanusLockHeldTooLong', reason: 'a lock stays', series: { [lock('a')]: '4400+60x20' }, at: '15m', fires: {} },
  {
    alert: 'JanusLockHeldTooLong',
    reason: 'a gate was open for hours',
    series: { [lock('a')]: '0x240 14400+60x3 0x20' },
    at: '4h4m',
  },
  { alert: 'JanusLockHeldTooLong', reason: 'locks come and go', series: { [lock('a')]: '0+60x30 0x10' }, at: '40m' },
  {
    alert: 'JanusHookErrors',
    reason: 'each call is refused',
    series: { [requests('401')]: '0+10x30', [requests('200')]: '5x30' },
    at: '15m',
    fires: { code: '401' },
  },
  {
    alert: 'JanusHookErrors',
    reason: 'calls are served, or asked to come again',
    series: { [requests('200')]: '0+10x30', [requests('429')]: '0+10x30' },
    at: '15m',
  },
  { alert: 'JanusHookErrors', reason: 'one error', series: { [requests('500')]: '0x3 1x30' }, at: '8m' },
  {
    alert: 'JanusHookDown',
    reason: 'both are down',
    series: { 'up{job="janus",instance="a"}': '1x3 0x20' },
    at: '15m',
    fires: {},
  },
  { alert: 'JanusHookDown', reason: 'no hook exists', series: { 'up{job="other"}': '1x20' }, at: '15m', fires: {} },
  {
    alert: 'JanusHookDown',
    reason: 'one of two is down',
    series: { 'up{job="janus",instance="a"}': '0x20', 'up{job="janus",instance="b"}': '1x20' },
    at: '15m',
  },
  {
    alert: 'JanusNotCalled',
    reason: 'no call arrives',
    series: { [active('a')]: '2x40', [active('b')]: '2x40', [requests('200')]: '0x40' },
    at: '30m',
    fires: {},
  },
  {
    alert: 'JanusNotCalled',
    reason: 'there is nothing to do',
    series: { [active('a')]: '0x40', [requests('200')]: '0x40' },
    at: '30m',
  },
  { alert: 'JanusNotCalled', reason: 'it is called', series: { [active('a')]: '2x40', [requests('200')]: '0+1x40' }, at: '30m' },
  {
    alert: 'JanusFiguresMissing',
    reason: 'the API server refuses',
    series: { [scrapeErrors]: '0+1x40' },
    at: '30m',
    fires: { source: 'transactions' },
  },
  { alert: 'JanusFiguresMissing', reason: 'it was away for a moment', series: { [scrapeErrors]: '0 1 2x40' }, at: '30m' },
  {
    alert: 'JanusPackageRollbackIncomplete',
    reason: 'a stage could not be undone',
    series: { [tries('RollbackIncomplete')]: '0x5 1x10' },
    at: '10m',
    fires: {},
  },
  {
    alert: 'JanusPackageRollbackIncomplete',
    reason: 'a try failed and was undone',
    series: { [tries('RollbackIncomplete')]: '0x20', [tries('VersionConflict')]: '0x5 1x10' },
    at: '10m',
  },
  {
    alert: 'JanusPackageFailed',
    reason: 'no version suits all',
    series: { [tries('VersionConflict')]: '0x5 1x10' },
    at: '10m',
    fires: { reason: 'VersionConflict' },
  },
  { alert: 'JanusPackageFailed', reason: 'long ago', series: { [tries('VersionConflict')]: '0x5 1x60' }, at: '50m' },
  {
    alert: 'JanusPackageStuck',
    reason: 'one holds the Lock for hours',
    series: { [oldestPackage('Installing')]: '3000+60x80' },
    at: '60m',
    fires: {},
  },
  {
    alert: 'JanusPackageStuck',
    reason: 'one waits for its turn',
    series: { [oldestPackage('Waiting')]: '3000+60x80' },
    at: '60m',
  },
  {
    alert: 'JanusPackageNotInstalled',
    reason: 'one of many was refused, reported once for two replicas',
    series: {
      [own('Installed', 'a')]: '99x30',
      [own('NotInstalled', 'a')]: '0x3 1x30',
      [own('NotInstalled', 'b')]: '0x3 1x30',
    },
    at: '20m',
    fires: {},
  },
  {
    alert: 'JanusPackageNotInstalled',
    reason: 'one was refused, and its next version is installed',
    series: { [own('NotInstalled', 'a')]: '0x3 1x10 0x20' },
    at: '20m',
  },
  {
    alert: 'JanusPackageTerminating',
    reason: 'its instances stay',
    series: { [oldestDeletion]: '0+60x80' },
    at: '70m',
    fires: {},
  },
  {
    alert: 'JanusPackageTerminating',
    reason: 'Packages come and go',
    series: { [oldestDeletion]: '0+60x50 0+60x50' },
    at: '90m',
  },
];

t.test('promtool accepts the rules', async (t) => {
  const { code, output } = await promtool(['check', 'rules', '--lint=all', '--lint-fatal', rules]);
  t.equal(code, 0, output);
  t.match(output, `${alerts.length} rules found`);
});

for (const one of cases) {
  t.test(`${one.alert} ${one.fires === undefined ? 'is silent' : 'fires'}: ${one.reason}`, async (t) => {
    const path = join(directory, 'test.yaml');
    writeFileSync(path, stringify(unitTest(one)));
    const { code, output } = await promtool(['test', 'rules', path]);
    t.equal(code, 0, output);
  });
}

function unitTest({ alert, series, at, fires }: Case): unknown {
  const rule = alerts.find((candidate) => candidate.alert === alert);
  if (rule === undefined) throw new Error(`there is no alert ${alert}`);
  return {
    rule_files: [rules],
    evaluation_interval: '1m',
    tests: [
      {
        interval: '1m',
        input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
        alert_rule_test: [{ eval_time: at, alertname: alert, exp_alerts: fires === undefined ? [] : [expected(rule, fires)] }],
      },
    ],
  };
}

function expected({ labels, annotations }: Alert, fires: Readonly<Record<string, string>>): unknown {
  const filledIn = (text: string): string =>
    text.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, name: string) => fires[name] ?? '');
  return {
    exp_labels: { ...labels, ...fires },
    exp_annotations: Object.fromEntries(Object.entries(annotations).map(([name, text]) => [name, filledIn(text)])),
  };
}

t.test('each alert is tried, firing and silent', async (t) => {
  for (const { alert } of alerts) {
    const tried = cases.filter((one) => one.alert === alert);
    t.ok(tried.some(({ fires }) => fires !== undefined) && tried.some(({ fires }) => fires === undefined), alert);
  }
});

const [, repository = ''] = /^git\+(.+)\.git$/.exec(JSON.parse(readShipped('package.json')).repository.url) ?? [];

t.test('each alert says what is wrong, how bad it is, and where to read on', async (t) => {
  const headings = readShipped('docs/runbooks.md').match(/^## .+$/gm) ?? [];
  const anchors = headings.map((heading) => heading.slice(3).toLowerCase().replaceAll(' ', '-'));
  for (const { alert, annotations, labels } of shippedAlerts()) {
    t.match(annotations.summary, /^[A-Z].*\.$/, alert);
    t.match(annotations.description, /^[A-Z].*\.$/, alert);
    t.match(labels.severity, /^(warning|critical)$/, alert);
    const [file, anchor = ''] = annotations.runbook_url.split('#');
    t.equal(file, `${repository}/blob/main/docs/runbooks.md`, 'absolute, in the repository of package.json');
    t.equal(anchor, alert.toLowerCase());
    t.ok(anchors.includes(anchor), `${annotations.runbook_url} is a heading`);
  }
});

t.test('alerts and dashboard query only series that the hook has', async (t) => {
  const text = await createMetrics().text();
  const named = [...text.matchAll(/^# TYPE (\S+) (\w+)$/gm)].flatMap(([, name = '', type]) =>
    type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  );
  const queries = [...alerts.map(({ expr }) => expr), ...dashboardQueries()];
  t.ok(queries.length > 25, 'the queries are found');
  for (const name of new Set(queries.flatMap(metricsIn))) t.ok(named.includes(name), name);
  const asked = queries.join('\n');
  const ours = [...text.matchAll(/^# TYPE (janus_\S+)/gm)].map(([, name = '']) => name);
  for (const name of ours) t.match(asked, name, `${name} is in a query`);
});
