// Whether a Crossplane runs in the cluster, and whether it suits the settings of package transactions. Its package manager writes the
// Lock by itself. So package transactions wait beside a Crossplane that the settings exclude, and without one that they need. The hook
// serves Transactions meanwhile: they need no Crossplane.

import { compareVersions, readCompleteVersion, type Version } from '../hooks/crossplane/model/version.ts';
import type { Failed, Identity, Reader, Resource } from '../hooks/objects/cluster.ts';
import { at, type JsonObject, listAt, objectsAt, textAt } from '../hooks/objects/json.ts';
import { foreign } from '../hooks/objects/words.ts';
import type { PackagesConfig } from './config.ts';

/** The Crossplane of the cluster suits the mode. */
interface RunningCrossplane {
  readonly kind: 'ok';
  /** Its namespace; absent if none runs. */
  readonly namespace?: string;
}

/** Package transactions wait. `fault` names the setting, what was expected, what was found, and what the administrator does next. */
interface CrossplaneFault {
  readonly kind: 'fault';
  readonly fault: string;
}

/** What is known of the Crossplane of the cluster. */
export type CrossplaneState = RunningCrossplane | CrossplaneFault;

type Suits = CrossplaneState | Failed;

const deployments: Resource = {
  group: 'apps',
  version: 'v1',
  plural: 'deployments',
  kind: 'Deployment',
  namespaced: true,
  verbs: ['list'],
  statusSubresource: true,
};

/** The label that the chart of Crossplane gives all its Deployments. */
const crossplaneLabel = 'app.kubernetes.io/component=cloud-infrastructure-controller';

/** Before it, a revision controller makes the Deployments of providers, and expects that the package manager has made the revision. */
const oldest = 'v2.0.0';
const longestText = 100;

/** Reads as the ServiceAccount that installs packages: the hook itself reads no Deployments. */
export async function suitsCrossplane(reader: Pick<Reader, 'listMetadata' | 'resource'>, config: PackagesConfig): Promise<Suits> {
  const identity: Identity = { kind: 'serviceAccount', namespace: config.namespace, name: 'janus-packages' };
  const options = { labelSelector: crossplaneLabel, whole: true };
  const answer = await reader.listMetadata(deployments, undefined, identity, options);
  if (answer.kind === 'failed') return answer;
  const found = answer.items.find(isRunning);
  const fault = faultOf(found, config);
  if (fault !== undefined) return { kind: 'fault', fault };
  const pauses = config.mode === 'beside' && config.own !== 'none' ? await pausesPackages(reader) : ({ kind: 'ok' } as const);
  const namespace = textAt(found, 'metadata', 'namespace');
  return pauses.kind !== 'ok' || namespace === undefined ? pauses : { kind: 'ok', namespace };
}

const policies = ['admissionregistration.k8s.io/v1', 'MutatingAdmissionPolicy'] as const;

/** Crossplane would install a Package before Metacontroller calls the hook. So a policy pauses each Package when it is created. */
async function pausesPackages(reader: Pick<Reader, 'resource'>): Promise<Suits> {
  const answer = await reader.resource(...policies);
  if (answer.kind === 'ok' || answer.failure.kind !== 'absent') return answer.kind === 'ok' ? { kind: 'ok' } : answer;
  const fault = `JANUS_PACKAGES_OWN: with JANUS_PACKAGES_CROSSPLANE=beside expects an API server that serves ${policies[1]} of ${policies[0]}, Kubernetes 1.36 or newer, found none; set none, or upgrade Kubernetes`;
  return { kind: 'fault', fault };
}

/** Whether it runs the controllers. Another Deployment with the label grants rights to providers. */
function isRunning(deployment: JsonObject): boolean {
  const containers = objectsAt(deployment, 'spec', 'template', 'spec', 'containers');
  const isCore = containers.some((one) => ['core', 'start'].every((word) => listAt(one, 'args').includes(word)));
  return isCore && at(deployment, 'spec', 'replicas') !== 0;
}

function faultOf(found: JsonObject | undefined, { mode, crossplane }: PackagesConfig): string | undefined {
  if (mode === 'idle') return undefined;
  if (mode === 'beside') return faultBeside(found, readCompleteVersion(crossplane));
  if (found === undefined) return undefined;
  return `JANUS_PACKAGES_CROSSPLANE: expected no running package manager of Crossplane, found ${describe(found)}; set beside, and Crossplane runs what package transactions install; or scale the Deployment down; or set idle, if its package manager leaves packages alone`;
}

function faultBeside(found: JsonObject | undefined, given: Version | undefined): string | undefined {
  const expected = `JANUS_PACKAGES_CROSSPLANE: beside expects a running Crossplane from ${oldest} on`;
  if (found === undefined)
    return `${expected}, found no Deployment with the label ${crossplaneLabel}, the arguments core start, and a replica; install Crossplane, or leave this setting out`;
  const [version, least] = [given ?? versionOf(found), readCompleteVersion(oldest)];
  if (version === undefined || least === undefined)
    return `${expected}, found ${describe(found)}, whose version cannot be read; set JANUS_CROSSPLANE_VERSION to it`;
  return compareVersions(version, least) < 0 ? `${expected}, found ${describe(found)}; upgrade Crossplane` : undefined;
}

function versionOf(deployment: JsonObject): Version | undefined {
  return readCompleteVersion(textAt(deployment, 'metadata', 'labels', 'app.kubernetes.io/version') ?? '');
}

function describe(deployment: JsonObject): string {
  const [namespace, name] = ['namespace', 'name'].map((key) => textAt(deployment, 'metadata', key) ?? '');
  const version = textAt(deployment, 'metadata', 'labels', 'app.kubernetes.io/version') ?? 'no version';
  return foreign(`Deployment ${namespace}/${name} (${version})`, longestText);
}
