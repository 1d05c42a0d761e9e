// Reads the version of the engine from its Deployment.
import type { Resource } from '../../hooks/objects/cluster.ts';
import { at, isList, type Json, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { foreign } from '../../hooks/objects/words.ts';
import { caller, type Session } from './session.ts';

/** The namespace of the engine in the shipped manifests. */
export const usualEngineNamespace = 'janus-system';

export const deployments: Resource = {
  group: 'apps',
  version: 'v1',
  plural: 'deployments',
  kind: 'Deployment',
  namespaced: true,
  verbs: [],
  statusSubresource: true,
};

interface SeenEngine {
  /** The tag of its image, or else its label. If it has neither, a sentence says why. */
  readonly version: string;
  /** Why the engine is unknown, as half a sentence; undefined if its Deployment was read. */
  readonly absence?: string;
}

/** Reads the shipped Deployment `janus`. Never throws. */
export async function engineIn(session: Session, namespace = usualEngineNamespace): Promise<SeenEngine> {
  const answer = await session.cluster.get({ resource: deployments, namespace, name: 'janus' }, caller);
  const what = `Deployment ${namespace}/janus`;
  if (answer.kind === 'ok') return { version: versionOf(answer.object) ?? `unknown: ${what} has no image with a version` };
  const { kind, reason } = answer.failure;
  const absence =
    kind === 'absent'
      ? `namespace ${namespace} has no Deployment janus; name the namespace of the engine with --engine-namespace`
      : `${what} cannot be read (${reason}), so whether the engine is there is unknown`;
  return { version: `unknown: ${kind === 'absent' ? absence : `${what} cannot be read (${reason})`}`, absence };
}

/** The containers of the engine and of Metacontroller. */
const names = ['hook', 'metacontroller'];

/** The tag of its image, or else its label. */
export function versionOf(deployment: JsonObject): string | undefined {
  const containers = at(deployment, 'spec', 'template', 'spec', 'containers');
  const all: readonly Json[] = isList(containers) ? containers : [];
  const hook = all.find((one) => names.includes(textAt(one, 'name') ?? ''));
  // A slash follows the colon of a registry's port, and an @ precedes the colon of a digest.
  const [image = ''] = (textAt(hook, 'image') ?? '').split('@');
  const [, tag] = /:([^:/]+)$/.exec(image) ?? [];
  // An image that only a digest pins has no tag.
  const version = tag ?? textAt(deployment, 'metadata', 'labels', 'app.kubernetes.io/version') ?? '';
  return version === '' ? undefined : foreign(version, 128);
}
