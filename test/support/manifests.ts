// What reads manifests for the engines of tests. On a machine that does much else, reading takes its time;
// test/server/manifests is about the limit. Its thread keeps no process from ending.
import { createManifests } from '../../server/manifests/manifests.ts';

export const manifests = createManifests({ limit: 30_000, idle: 30_000 });
