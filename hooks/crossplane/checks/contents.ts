// The contents that a package may have, checked object by object as they are read.
import { at, type JsonObject, textAt, withKey } from '../../objects/json.ts';
import type { Reference } from '../../objects/reference.ts';
import { foreign } from '../../objects/words.ts';
import { isMeta, type Meta, type PackageKind, quoted, readMeta } from '../model/package.ts';

export interface Contents {
  readonly meta: Meta;
  readonly objects: readonly Reference[];
}

interface Inspection {
  take(object: JsonObject): void;
  /** After the last object: the contents, or the first fault in words. */
  done(): Contents | string;
}

const extensions = 'apiextensions.crossplane.io';
const definitions = ['apiextensions.k8s.io/v1 CustomResourceDefinition'];
const webhooks = ['ValidatingWebhookConfiguration', 'MutatingWebhookConfiguration'].map(
  (kind) => `admissionregistration.k8s.io/v1 ${kind}`,
);

const allowed: Readonly<Record<PackageKind, readonly string[]>> = {
  Provider: [...definitions, `${extensions}/v1alpha1 ManagedResourceDefinition`, ...webhooks],
  Configuration: [
    `${extensions}/v1 CompositeResourceDefinition`,
    `${extensions}/v2 CompositeResourceDefinition`,
    `${extensions}/v1 Composition`,
    `${extensions}/v1alpha1 ManagedResourceActivationPolicy`,
    ...['Operation', 'CronOperation', 'WatchOperation'].map((kind) => `ops.crossplane.io/v1alpha1 ${kind}`),
  ],
  Function: definitions,
};

/** The kinds of the installed objects, each once, in the version in which the hook looks for it. */
export const installedKinds = [...new Set([...allowed.Provider, ...allowed.Configuration])]
  .filter((one) => !webhooks.includes(one) && one !== `${extensions}/v2 CompositeResourceDefinition`)
  .map((one) => {
    const [apiVersion = '', kind = ''] = one.split(' ');
    return { apiVersion, kind };
  });

/** Why the API server cannot call the webhooks of packages, in words. Absent if it can. */
export interface WebhookFaults {
  readonly conversion?: string;
  readonly admission?: string;
}

const crossplaneServes = 'run the package by Crossplane, and set JANUS_PACKAGES_CROSSPLANE=beside';

/** No setting names the servers of the webhooks, so the API server would refuse each write of these kinds. */
export const withoutServers: WebhookFaults = {
  conversion: `nothing serves it: ${crossplaneServes}; or set JANUS_PACKAGES_WEBHOOK_SECRET to the Secret with the authority of its server`,
  admission: `only Crossplane makes its configuration: ${crossplaneServes}`,
};

export function inspect(webhookFaults = withoutServers): Inspection {
  const objects = new Map<string, Reference>();
  let [metas, meta, fault]: [number, Meta | string | undefined, string | undefined] = [0, undefined, undefined];
  return {
    take(object) {
      if (!isMeta(object)) {
        fault ??= faultOf(object, objects, webhookFaults);
        return;
      }
      metas += 1;
      // Only one meta is allowed: the others count, and the hook does not read them.
      meta ??= readMeta(object);
    },
    done: () =>
      meta === undefined || metas > 1
        ? `expected one meta object of meta.pkg.crossplane.io, found ${metas}`
        : contentsOf(meta, [...objects.values()], fault),
  };
}

/** Adds the object to the objects that were found, or names its fault. */
function faultOf(object: JsonObject, objects: Map<string, Reference>, webhookFaults: WebhookFaults): string | undefined {
  const reference = referenceOf(object);
  if (typeof reference === 'string') return reference;
  const key = `${reference.kind} ${reference.name}`;
  if (objects.has(key)) return `${describe(reference)} is there twice`;
  objects.set(key, reference);
  const why = isWebhookConfiguration(reference)
    ? webhookFaults.admission
    : isConverted(object)
      ? webhookFaults.conversion
      : undefined;
  return why === undefined ? undefined : `${describe(reference)} calls a webhook of the package, and ${why}`;
}

function contentsOf(meta: Meta | string, objects: readonly Reference[], fault: string | undefined): Contents | string {
  if (typeof meta === 'string') return meta;
  if (fault !== undefined) return fault;
  const misplaced = objects.find(({ apiVersion, kind }) => !allowed[meta.kind].includes(`${apiVersion} ${kind}`));
  if (misplaced !== undefined) return `a ${meta.kind} may not hold ${describe(misplaced)}`;
  return { meta, objects: meta.kind === 'Function' ? [] : objects.filter((one) => !isWebhookConfiguration(one)) };
}

function referenceOf(object: JsonObject): Reference | string {
  const [apiVersion, kind, name] = [textAt(object, 'apiVersion'), textAt(object, 'kind'), textAt(object, 'metadata', 'name')];
  if (apiVersion === undefined || kind === undefined || name === undefined)
    return `expected apiVersion, kind and metadata.name, found ${quoted(apiVersion)}, ${quoted(kind)} and ${quoted(name)}`;
  // The name is a copy: a part of a text would keep the text of its whole document in memory.
  return JSON.parse(JSON.stringify({ apiVersion, kind, name })) as Reference;
}

const longestName = 253;

function describe({ apiVersion, kind, name }: Reference): string {
  return foreign(`${apiVersion} ${kind} ${name}`, longestName);
}

/** Crossplane makes these objects, under names of its own, once a revision runs that serves them. The hook never makes them. */
export function isWebhookConfiguration({ apiVersion, kind }: Pick<Reference, 'apiVersion' | 'kind'>): boolean {
  return webhooks.includes(`${apiVersion} ${kind}`);
}

/** Whether the API server calls a webhook of the package to convert objects of that kind. */
export function isConverted(object: JsonObject): boolean {
  return textAt(object, 'spec', 'conversion', 'strategy') === 'Webhook';
}

/** The object as the hook installs it. Builders leave a status with nulls. */
export function installable(object: JsonObject): JsonObject {
  return at(object, 'status') === undefined ? object : withKey(object, 'status', undefined);
}
