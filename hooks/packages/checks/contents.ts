// The contents that a package may have, checked object by object as they are read.
import { at, type JsonObject, textAt, withKey } from '../../objects/json.ts';
import { foreign } from '../../objects/words.ts';
import { isMeta, type Meta, type PackageKind, quoted, readMeta } from '../model/package.ts';

/** An object that is installed. */
export interface Member {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
}

export interface Contents {
  readonly meta: Meta;
  readonly members: readonly Member[];
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

/** Kinds of what is installed, each once, in the version in which it is looked for. */
export const installedKinds = [...new Set([...allowed.Provider, ...allowed.Configuration])]
  .filter((one) => !webhooks.includes(one) && one !== `${extensions}/v2 CompositeResourceDefinition`)
  .map((one) => {
    const [apiVersion = '', kind = ''] = one.split(' ');
    return { apiVersion, kind };
  });

export function inspect(): Inspection {
  const members = new Map<string, Member>();
  let [metas, meta, fault]: [number, Meta | string | undefined, string | undefined] = [0, undefined, undefined];
  return {
    take(object) {
      if (!isMeta(object)) {
        fault ??= faultOf(object, members);
        return;
      }
      metas += 1;
      // Only one is allowed: the others count, and are not read.
      meta ??= readMeta(object);
    },
    done: () =>
      meta === undefined || metas > 1
        ? `expected one meta object of meta.pkg.crossplane.io, found ${metas}`
        : contentsOf(meta, [...members.values()], fault),
  };
}

/** Adds the object to the members, or says what is wrong with it. */
function faultOf(object: JsonObject, members: Map<string, Member>): string | undefined {
  const member = memberOf(object);
  if (typeof member === 'string') return member;
  const key = `${member.kind} ${member.name}`;
  if (members.has(key)) return `${describe(member)} is there twice`;
  members.set(key, member);
  return webhookIn(object, member);
}

function contentsOf(meta: Meta | string, members: readonly Member[], fault: string | undefined): Contents | string {
  if (typeof meta === 'string') return meta;
  if (fault !== undefined) return fault;
  const misplaced = members.find(({ apiVersion, kind }) => !allowed[meta.kind].includes(`${apiVersion} ${kind}`));
  if (misplaced !== undefined) return `a ${meta.kind} may not hold ${describe(misplaced)}`;
  return { meta, members: meta.kind === 'Function' ? [] : members };
}

function memberOf(object: JsonObject): Member | string {
  const [apiVersion, kind, name] = [textAt(object, 'apiVersion'), textAt(object, 'kind'), textAt(object, 'metadata', 'name')];
  if (apiVersion === undefined || kind === undefined || name === undefined)
    return `expected apiVersion, kind and metadata.name, found ${quoted(apiVersion)}, ${quoted(kind)} and ${quoted(name)}`;
  // As a copy: a part of a text would keep the text of its whole document in memory.
  return JSON.parse(JSON.stringify({ apiVersion, kind, name })) as Member;
}

const longestName = 253;

function describe({ apiVersion, kind, name }: Member): string {
  return foreign(`${apiVersion} ${kind} ${name}`, longestName);
}

/** A package cannot bring a webhook: its server must run before it is called. A later version may support that. */
function webhookIn(object: JsonObject, member: Member): string | undefined {
  const isWebhook =
    webhooks.includes(`${member.apiVersion} ${member.kind}`) || textAt(object, 'spec', 'conversion', 'strategy') === 'Webhook';
  return isWebhook
    ? `${describe(member)} calls a webhook of the package, which is not supported yet: what serves it is not installed with it`
    : undefined;
}

/** The object as it is installed: builders leave a status with nulls. */
export function installable(object: JsonObject): JsonObject {
  return at(object, 'status') === undefined ? object : withKey(object, 'status', undefined);
}
