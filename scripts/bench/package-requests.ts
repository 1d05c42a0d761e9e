// What package transactions cost the API server, the registry and the hook, by the hook's own counters and those of the proxy.
import { request } from 'undici';
import type { PackageWorld } from '../../test/support/package-world.ts';
import { meterOf } from './child.ts';

export interface Cost {
  readonly ms: number;
  /** Of the hook: of the engine and of packages. */
  readonly apiRequests: number;
  readonly registryRequests: number;
  /** The most MiB of the hook. */
  readonly peakMiB: number;
}

/** Begins to count; the answer ends it. */
export async function counterOf(world: PackageWorld): Promise<() => Promise<Cost>> {
  const meter = meterOf(world.hook.process);
  const [begin, api, registry] = [performance.now(), await apiRequestsOf(world), world.proxy.seen.length];
  meter.resetPeak();
  return async () => {
    const ms = Math.round(performance.now() - begin);
    const apiRequests = (await apiRequestsOf(world)) - api;
    return { ms, apiRequests, registryRequests: world.proxy.seen.length - registry, peakMiB: meter.peakMemory() ?? 0 };
  };
}

/** Since the start of the hook. */
export async function apiRequestsOf({ hook }: PackageWorld): Promise<number> {
  const text = await (await request(`${hook.url}/metrics`)).body.text();
  const counts = [...text.matchAll(/^janus_api_requests_total\{.*\} (\d+)$/gm)].map(([, count]) => Number(count));
  return counts.reduce((sum, count) => sum + count, 0);
}
