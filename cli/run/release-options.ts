// The options of apply and plan that describe the Transaction of manifests.
import type { Failure } from '../../hooks/objects/failure.ts';
import { type JsonObject, textAt, withPath } from '../../hooks/objects/json.ts';
import { formatDuration, parseDuration } from '../../hooks/objects/time.ts';
import { foreign } from '../../hooks/objects/words.ts';
import { type Duration, durations, gateDurations, longestTransactionName, patterns } from '../../schemas/spec-values.ts';
import { statusLimits } from '../../schemas/transaction-item.ts';
import type { Session } from '../cluster/session.ts';
import { getNamespace, noNamespace } from '../cluster/transactions.ts';
import type { Call, Options } from '../command/command.ts';
import type { Manifest } from '../input/read.ts';
import { isTransaction, type ReleaseOptions } from '../input/release.ts';
import { Problem, wrongUse } from '../problem.ts';
import { sentenceOf } from '../show/sentences.ts';
import { rbacCommand } from './given.ts';

/** The options that a file with a Transaction refuses. */
export const forManifests = [
  'name',
  'generateName',
  'label',
  'serviceAccount',
  'fieldManager',
  'fieldConflicts',
  'takeOver',
  'gate',
  'keepLogs',
  'recreateImmutable',
  'serial',
  'setReplicas',
  'allowIrreversible',
  'deleteFilled',
  'plainSecrets',
  'helmHooks',
  'ttl',
  'lockWait',
];

/** Throws a Problem if options contradict each other, or the input. */
export async function releaseOptionsOf(call: Call, session: Session, manifests: readonly Manifest[]): Promise<ReleaseOptions> {
  const { options, operands } = call;
  const [app] = operands;
  const isWhole = manifests.some(({ object }) => isTransaction(object));
  refuseContradictions(options, app, isWhole);
  const name = options.text('name');
  refuseBadName('--name', name);
  refuseBadName('--generate-name', options.text('generateName')?.replace(/[-.]$/, ''));
  refuseBadName('APP', app);
  const [fieldManager, gate, ttl] = [fieldManagerOf(options, app), gateOf(options, app !== undefined), ttlOf(options)];
  const lockWait = lockWaitOf(options, gate);
  const prefix = app === undefined ? 'apply-' : `${app}-`;
  return {
    namespace: session.namespace,
    isNamespaceGiven: (options.text('namespace') ?? '') !== '',
    name: name === undefined ? { generateName: options.text('generateName') ?? prefix } : { name },
    labels: Object.fromEntries(options.list('label').map(labelIn)),
    serviceAccount: isWhole ? '' : await serviceAccountOf(call, session),
    fieldManager,
    gate,
    failOnConflict: options.text('fieldConflicts') === 'fail',
    takeOver: takeOverOf(options, fieldManager),
    recreateImmutable: options.flag('recreateImmutable'),
    isSerial: options.flag('serial'),
    setReplicas: options.flag('setReplicas'),
    allowIrreversible: options.flag('allowIrreversible'),
    deleteFilled: options.flag('deleteFilled'),
    plainSecrets: options.flag('plainSecrets'),
    ttl,
    lockWait,
  };
}

/** A name that the API server accepts: https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#dns-subdomain-names */
const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const subdomain = new RegExp(`^${label}(\\.${label})*$`);

function refuseBadName(what: string, name: string | undefined): void {
  if (name === undefined || (subdomain.test(name) && name.length <= longestTransactionName)) return;
  throw wrongUse(
    `${what} must have at most ${longestTransactionName} lowercase letters, digits, "-" and ".", and begin and end with a letter or digit; found "${foreign(name, 2 * longestTransactionName)}".`,
  );
}

function fieldManagerOf(options: Options, app: string | undefined): string | undefined {
  const name = options.text('fieldManager') ?? app;
  const isGood = name === undefined || (new RegExp(patterns.fieldManager).test(name) && !name.startsWith('janus'));
  if (isGood && (name ?? '').length <= statusLimits.fieldManager) return name;
  throw wrongUse(
    `A field manager must have from 1 to ${statusLimits.fieldManager} printable ASCII characters, and must not begin with "janus"; found "${foreign(name ?? '', longestTransactionName)}": correct --field-manager, or the name of the app.`,
  );
}

function takeOverOf(options: Options, fieldManager: string | undefined): readonly string[] {
  const apps = options.list('takeOver');
  if (apps.length === 0) return apps;
  if (fieldManager === undefined) throw wrongUse('--take-over needs the name of the app that takes over, or --field-manager.');
  if (apps.includes(fieldManager))
    throw wrongUse(`--take-over names the app itself, "${foreign(fieldManager, longestTransactionName)}": name the other app.`);
  if (options.text('fieldConflicts') === 'fail')
    throw wrongUse(
      '--take-over takes the fields of the other app, and --field-conflicts=fail refuses that: leave one of them out.',
    );
  return apps;
}

/** `spec.gate`; undefined for no gates. `isUsual`: all objects have gates unless the user gives --no-gate. Throws a Problem. */
export function gateOf(options: Options, isUsual: boolean): JsonObject | undefined {
  const timeout = gateTimeoutOf(options);
  const keepLogs = options.flag('keepLogs') ? true : undefined;
  if (timeout !== undefined || options.flag('gate') || (isUsual && !options.isOff('gate')))
    return withPath(withPath({}, ['timeout'], timeout), ['keepLogs'], keepLogs);
  if (keepLogs === undefined) return undefined;
  throw wrongUse('--keep-logs keeps what a failed gate finds: give --gate, or the name of an app without --no-gate.');
}

function gateTimeoutOf(options: Options): string | undefined {
  const text = options.text('gate');
  const { least, most } = gateDurations.timeout;
  if (text === undefined || isWithin(text, gateDurations.timeout)) return text;
  // `--gate shop` takes the name of the app, or of a Transaction, for a timeout.
  throw wrongUse(
    `--gate takes a timeout from ${least} to ${most} such as 10m, or nothing; found "${text}". If "${text}" is a name, write it before --gate.`,
  );
}

/**
 * As given. The default for a release with gates: another release of the app, with equal gates, may lock the objects for that time, and the
 * usual wait is for its writes. Throws a Problem.
 */
export function lockWaitOf(options: Options, gate: JsonObject | undefined): string | undefined {
  const text = options.text('lockWait');
  const { least, most, default: usual } = durations.lockWait;
  if (text !== undefined && !isWithin(text, durations.lockWait))
    throw wrongUse(`--lock-wait must be a duration from ${least} to ${most} such as 10m; found "${text}".`);
  if (text !== undefined || gate === undefined) return text;
  return formatDuration(Math.min(inMs(textAt(gate, 'timeout') ?? gateDurations.timeout.default) + inMs(usual), inMs(most)));
}

const inMs = (text: string): number => parseDuration(text) ?? Number.NaN;

const isWithin = (text: string, { least, most }: Duration): boolean => inMs(text) >= inMs(least) && inMs(text) <= inMs(most);

const annotation = 'tx.janus.io/service-account';

/** The ServiceAccount of the option, or of the annotation of the Namespace. Throws a Problem. */
async function serviceAccountOf(call: Call, session: Session): Promise<string> {
  const given = call.options.text('serviceAccount') ?? '';
  if (given !== '') return given;
  const found = await getNamespace(session);
  const named = found.kind === 'ok' ? (textAt(found.object, 'metadata', 'annotations', annotation) ?? '') : '';
  if (named !== '') return named;
  if (found.kind === 'failed' && found.failure.reason !== 'Forbidden') throw unreadNamespace(found.failure, session);
  const why = found.kind === 'ok' ? 'has none' : `cannot be read (${found.failure.reason})`;
  throw wrongUse(
    `Manifests need --service-account NAME: the ServiceAccount that the engine makes the changes as. Its default is the annotation ${annotation} of the Namespace, but Namespace ${session.namespace} ${why}. To create one with its rights: ${rbacCommand(call).replace(' rbac', ' rbac --service-account NAME')}`,
  );
}

function unreadNamespace(failure: Failure, { namespace, server }: Session): Problem {
  if (failure.kind === 'absent') return noNamespace(namespace);
  return new Problem(sentenceOf(failure, { verb: 'get', resource: 'namespaces', namespace, name: namespace, server }));
}

function refuseContradictions(options: Options, app: string | undefined, isWhole: boolean): void {
  const isGiven = (one: string): boolean => options.flag(one) || options.text(one) !== undefined || options.list(one).length > 0;
  if (isWhole) {
    const given = [...forManifests.filter(isGiven).map(flagOf), ...(app === undefined ? [] : [`"${app}"`])];
    if (given.length === 0) return;
    throw wrongUse(`${given.join(', ')} cannot change a Transaction that is read from a file: leave it out.`);
  }
  if (isGiven('newName') && !isGiven('name')) throw wrongUse('--new-name needs --name, because apply then uses NAME-2.');
}

/** Of spec.ttlSecondsAfterFinished: an int32. */
const mostSeconds = 2 ** 31 - 1;

/** In seconds. */
function ttlOf(options: Options): number | undefined {
  const text = options.text('ttl');
  const wished = text === undefined ? undefined : parseDuration(text);
  const seconds = wished === undefined ? undefined : Math.ceil(wished / 1000);
  if (text !== undefined && !(seconds !== undefined && seconds <= mostSeconds))
    throw wrongUse(`--ttl must be a duration such as 24h, and at most ${mostSeconds}s; found "${text}".`);
  return seconds;
}

function labelIn(text: string): readonly [string, string] {
  const [, key, value] = /^([^=]+)=(.*)$/.exec(text) ?? [];
  if (key === undefined || value === undefined) throw wrongUse(`--label takes KEY=VALUE; found "${text}".`);
  return [key, value];
}

function flagOf(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
