// The options of apply and plan that describe the Transaction of manifests.
import { parseDuration } from '../../hooks/objects/time.ts';
import type { Call, Options } from '../command/command.ts';
import type { Manifest } from '../input/read.ts';
import { isTransaction, type ReleaseOptions } from '../input/release.ts';
import { wrongUse } from '../problem.ts';

const forManifests = [
  'name',
  'generateName',
  'label',
  'serviceAccount',
  'fieldManager',
  'gate',
  'recreateImmutable',
  'allowIrreversible',
  'deleteFilled',
  'plainSecrets',
  'helmHooks',
  'ttl',
];

/** Throws a Problem if options contradict each other, or the input. */
export function releaseOptionsOf({ options }: Call, namespace: string, manifests: readonly Manifest[]): ReleaseOptions {
  refuseContradictions(options, manifests);
  const name = options.text('name');
  return {
    namespace,
    isNamespaceGiven: (options.text('namespace') ?? '') !== '',
    name: name === undefined ? { generateName: options.text('generateName') ?? 'apply-' } : { name },
    labels: Object.fromEntries(options.list('label').map(labelIn)),
    serviceAccount: options.text('serviceAccount') ?? '',
    fieldManager: options.text('fieldManager'),
    gate: options.flag('gate') ? '' : options.text('gate'),
    recreateImmutable: options.flag('recreateImmutable'),
    allowIrreversible: options.flag('allowIrreversible'),
    deleteFilled: options.flag('deleteFilled'),
    plainSecrets: options.flag('plainSecrets'),
    ttl: ttlOf(options),
  };
}

function refuseContradictions(options: Options, manifests: readonly Manifest[]): void {
  const isGiven = (one: string): boolean => options.flag(one) || options.text(one) !== undefined || options.list(one).length > 0;
  if (manifests.some(({ object }) => isTransaction(object))) {
    const given = forManifests.filter(isGiven);
    if (given.length === 0) return;
    throw wrongUse(`${given.map(flagOf).join(', ')} cannot change a Transaction that is read from a file: leave it out.`);
  }
  if (!isGiven('serviceAccount'))
    throw wrongUse('Manifests need --service-account NAME: the ServiceAccount that the engine makes the changes as.');
  if (isGiven('newName') && !isGiven('name')) throw wrongUse('--new-name needs --name, because apply then uses NAME-2.');
}

/** In seconds. */
function ttlOf(options: Options): number | undefined {
  const text = options.text('ttl');
  const wished = text === undefined ? undefined : parseDuration(text);
  if (text !== undefined && wished === undefined) throw wrongUse(`--ttl must be a duration such as 24h; found "${text}".`);
  return wished === undefined ? undefined : Math.ceil(wished / 1000);
}

function labelIn(text: string): readonly [string, string] {
  const [, key, value] = /^([^=]+)=(.*)$/.exec(text) ?? [];
  if (key === undefined || value === undefined) throw wrongUse(`--label takes KEY=VALUE; found "${text}".`);
  return [key, value];
}

function flagOf(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
