// A control plane for one test file whose objects are in the way of others: webhooks, quotas, kinds that cannot be listed.
import process from 'node:process';
import type { Test } from 'tap';
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from '../controlplane/start.ts';

/** Starts it, has everything that the test then starts use it, and stops it after the test. */
export async function ownControlPlane(t: Test, options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const plane = await startControlPlane({ report: () => undefined, ...options });
  t.teardown(() => plane.stop());
  process.env.JANUS_TEST_KUBECONFIG = plane.kubeconfig;
  return plane;
}
