// The ConfigMap from which contents come, in the adversary's hands. (Secrets are not.)
import { sourceOf } from '../sources.ts';
import type { Attempted, Deed } from './deeds.ts';
import { configMapsPath, type Scene } from './scene.ts';

function onSource(id: string, act: (scene: Scene, path: string) => Promise<boolean>): Deed {
  const begin = (): Attempted => (scene) => act(scene, configMapsPath(scene, sourceOf(scene.run.names)));
  return { id, begin, when: 'at any time', breaks: false, needs: 'sources' };
}

function edited(id: string, parts: (canary: string) => Readonly<Record<string, Readonly<Record<string, string | null>>>>): Deed {
  return onSource(id, async ({ client, canary }, path) => (await client.patch(path, parts(canary), 'merge')).code === 200);
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

export const sources: readonly Deed[] = [
  edited('source-other-value', (canary) => ({ data: { 'updated.json': JSON.stringify({ data: { color: canary } }) } })),
  edited('source-other-target', () => ({ binaryData: { 'created.yaml.gz': base64('metadata: {namespace: kube-system}') } })),
  edited('source-garbage', (canary) => ({ data: { 'updated.json': `${canary}: {` } })),
  edited('source-no-key', () => ({ data: { 'updated.json': null } })),
  onSource('source-deleted', async ({ client }, path) => (await client.delete(path)).code === 200),
];
