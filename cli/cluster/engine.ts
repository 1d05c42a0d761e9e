// What can be seen of the engine: its Deployment.
import type { Resource } from '../../hooks/cluster.ts';
import { at, isList, type Json, type JsonObject, textAt } from '../../hooks/model/json.ts';
import { foreign } from '../../hooks/model/words.ts';
import { caller, type Session } from './session.ts';

/** Where the shipped manifests put it. */
export const usualEngineNamespace = 'janus-system';

const deployments: Resource = {
  group: 'apps',
  version: 'v1',
  plural: 'deployments',
  kind: 'Deployment',
  namespaced: true,
  verbs: [],
  statusSubresource: true,
};

/** The tag of its image, as the shipped Deployment `janus` has it; in words where it cannot be seen. Never throws. */
export async function engineVersion(session: Session, namespace = usualEngineNamespace): Promise<string> {
  const answer = await session.cluster.get({ resource: deployments, namespace, name: 'janus' }, caller);
  if (answer.kind === 'ok') return tagOf(answer.object) ?? `unknown: Deployment ${namespace}/janus has no image with a version`;
  return `unknown: Deployment ${namespace}/janus cannot be read (${answer.failure.reason})`;
}

function tagOf(deployment: JsonObject): string | undefined {
  const containers = at(deployment, 'spec', 'template', 'spec', 'containers');
  const hook: Json | undefined = isList(containers) ? containers.find((one) => textAt(one, 'name') === 'hook') : undefined;
  const [, tag] = /:([^:/@]+)(?:@.*)?$/.exec(textAt(hook, 'image') ?? '') ?? [];
  return tag === undefined ? undefined : foreign(tag, 128);
}
