// The guards and subjects of test/generated/admission.ts, as objects of the API server.
import { at, type JsonObject } from '../../hooks/objects/json.ts';
import { bindingOf, deadWebhook, policyFor, wantsTeam } from '../support/admission-pairs.ts';
import type { TargetParts } from '../support/targets.ts';
import type { Guard, Level } from './admission.ts';

export interface Placed {
  readonly parts: TargetParts;
  readonly name: string;
  readonly collection: string;
}

export interface Scene {
  readonly guard: Placed;
  /** The content of the guard; undefined: it is not there. */
  readonly guardAs: (isStrict: boolean) => JsonObject | undefined;
  readonly subject: Placed;
  readonly subjectAs: (level: Level) => JsonObject | undefined;
  /** What the guard needs to be in force, before the release and after it. */
  readonly frame: readonly (readonly [Placed, JsonObject])[];
}

const registration = 'admissionregistration.k8s.io/v1';

function placed([apiVersion, kind, plural]: readonly [string, string, string], name: string, namespace?: string): Placed {
  const root = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`;
  const collection = namespace === undefined ? `${root}/${plural}` : `${root}/namespaces/${namespace}/${plural}`;
  return { parts: { apiVersion, kind, ...(namespace === undefined ? {} : { namespace }) }, name, collection };
}

const pod = (spec: JsonObject): JsonObject => ({ spec: { containers: [{ name: 'main', image: 'example.org/main' }], ...spec } });
const present =
  (bad: JsonObject) =>
  (level: Level): JsonObject | undefined =>
    level === 'absent' ? undefined : bad;

/** `place`: the Namespace of the subject, which only this scene uses. */
export const scenes: Readonly<Record<Guard, (place: string) => Scene>> = {
  quota: (place) => ({
    guard: placed(['v1', 'ResourceQuota', 'resourcequotas'], 'guard', place),
    guardAs: (isStrict) => ({ spec: { hard: { 'count/services': isStrict ? '0' : '5' } } }),
    subject: placed(['v1', 'Service', 'services'], 'subject', place),
    subjectAs: present({ spec: { ports: [{ port: 80, protocol: 'TCP' }] } }),
    frame: [],
  }),
  limits: (place) => ({
    guard: placed(['v1', 'LimitRange', 'limitranges'], 'guard', place),
    guardAs: (isStrict) => ({
      spec: { limits: [{ type: 'PersistentVolumeClaim', max: { storage: isStrict ? '1Mi' : '30Mi' } }] },
    }),
    subject: placed(['v1', 'PersistentVolumeClaim', 'persistentvolumeclaims'], 'subject', place),
    subjectAs: present({ spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '20Mi' } } } }),
    frame: [],
  }),
  pods: (place) => ({
    guard: placed(['v1', 'Namespace', 'namespaces'], place),
    guardAs: (isStrict) => ({
      metadata: { labels: { 'pod-security.kubernetes.io/enforce': isStrict ? 'baseline' : 'privileged' } },
    }),
    subject: placed(['v1', 'Pod', 'pods'], 'subject', place),
    subjectAs: present(pod({ hostNetwork: true })),
    frame: [],
  }),
  priority: (place) => ({
    guard: placed(['scheduling.k8s.io/v1', 'PriorityClass', 'priorityclasses'], place),
    guardAs: (isStrict) => (isStrict ? undefined : { value: 7 }),
    subject: placed(['v1', 'Pod', 'pods'], 'subject', place),
    subjectAs: present(pod({ priorityClassName: place })),
    frame: [],
  }),
  policy: (place) => ({
    guard: placed([registration, 'ValidatingAdmissionPolicy', 'validatingadmissionpolicies'], place),
    guardAs: (isStrict) =>
      policyFor('subject', isStrict ? wantsTeam : { validations: [{ expression: 'true', message: 'none' }] }),
    ...teams(place),
    frame: [[bindingIn(place), bindingOf(place, place)]],
  }),
  binding: (place) => ({
    guard: bindingIn(place),
    guardAs: (isStrict) => (isStrict ? bindingOf(place, place) : undefined),
    ...teams(place),
    frame: [
      [
        placed([registration, 'ValidatingAdmissionPolicy', 'validatingadmissionpolicies'], place),
        policyFor('subject', wantsTeam),
      ],
    ],
  }),
  webhook: (place) => ({
    guard: placed([registration, 'ValidatingWebhookConfiguration', 'validatingwebhookconfigurations'], place),
    guardAs: (isStrict) => (isStrict ? deadWebhook(place, 'yes') : undefined),
    subject: placed(['v1', 'ConfigMap', 'configmaps'], 'subject', place),
    subjectAs: (level) => (level === 'absent' ? undefined : { metadata: { labels: { judged: level === 'bad' ? 'yes' : 'no' } } }),
    frame: [],
  }),
  schema: (place) => ({
    guard: placed(
      ['apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'customresourcedefinitions'],
      `crates.${place}.example.org`,
    ),
    guardAs: (isStrict) => definition(place, isStrict ? { maximum: 8 } : {}),
    subject: placed([`${place}.example.org/v1`, 'Crate', 'crates'], 'subject', place),
    subjectAs: (level) => (level === 'absent' ? undefined : { spec: { count: level === 'bad' ? 40 : 4 } }),
    frame: [],
  }),
};

function bindingIn(place: string): Placed {
  return placed([registration, 'ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings'], place);
}

function teams(place: string): Pick<Scene, 'subject' | 'subjectAs'> {
  return {
    subject: placed(['v1', 'ConfigMap', 'configmaps'], 'subject', place),
    subjectAs: (level) =>
      level === 'absent' ? undefined : { metadata: { labels: level === 'ok' ? { team: 'ours' } : { other: 'theirs' } } },
  };
}

function definition(place: string, bound: JsonObject): JsonObject {
  const count = { type: 'integer', ...bound };
  const schema = {
    openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: { count } } } },
  };
  const names = { plural: 'crates', singular: 'crate', kind: 'Crate', listKind: 'CrateList' };
  const versions = [{ name: 'v1', served: true, storage: true, schema }];
  return { spec: { group: `${place}.example.org`, scope: 'Namespaced', names, versions } };
}

/** The object of that content. */
export function objectOf({ parts: { apiVersion = 'v1', kind = 'ConfigMap' }, name }: Placed, content: JsonObject): JsonObject {
  const metadata = at(content, 'metadata');
  return { apiVersion, kind, ...content, metadata: { ...(metadata as JsonObject | undefined), name } };
}

export function pathOf({ collection, name }: Placed): string {
  return `${collection}/${name}`;
}
