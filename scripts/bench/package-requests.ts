// Measures the cost of package transactions for the API server, the registry and the hook, by the counters of the hook and of the proxy.
import { request } from 'undici';
import type { PackageWorld } from '../../test/support/package-world.ts';
import { meterOf } from './child.ts';

export interface Cost {
  readonly ms: number;
  /** ms of the hook's processor time. */
  readonly cpuMs: number;
  /** Requests of the hook, for the engine and for packages. */
  readonly apiRequests: number;
  readonly registryRequests: number;
  /** The maximum of MiB of the hook. */
  readonly peakMiB: number;
}

/** Begins to count. The returned function ends the count. */
export async function counterOf(world: PackageWorld): Promise<() => Promise<Cost>> {
  const meter = meterOf(world.hook.process);
  const [begin, cpu] = [performance.now(), meter.cpu() ?? 0];
  const [api, registry] = [await apiRequestsOf(world), world.proxy.seen.length];
  meter.resetPeak();
  return async () => {
    const ms = Math.round(performance.now() - begin);
    const cpuMs = (meter.cpu() ?? 0) - cpu;
    const apiRequests = (await apiRequestsOf(world)) - api;
    return { ms, cpuMs, apiRequests, registryRequests: world.proxy.seen.length - registry, peakMiB: meter.peakMemory() ?? 0 };
  };
}

/** Requests to the API server since the start of the hook. */
export function apiRequestsOf(world: PackageWorld): Promise<number> {
  return sumOf(world, 'janus_api_requests_total');
}

/** Calls of Metacontroller for package transactions since the start of the hook. */
export function callsOf(world: PackageWorld): Promise<number> {
  return sumOf(world, 'janus_package_calls_total');
}

async function sumOf({ hook }: PackageWorld, metric: string): Promise<number> {
  const text = await (await request(`${hook.url}/metrics`)).body.text();
  const counts = [...text.matchAll(/^(\w+)\{.*\} (\d+)$/gm)].filter(([, name]) => name === metric);
  return counts.reduce((sum, [, , count]) => sum + Number(count), 0);
}
