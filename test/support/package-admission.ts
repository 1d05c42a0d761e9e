// An admission webhook for what package transactions write as the ServiceAccount of packages.
import type { JsonObject } from '../../hooks/objects/json.ts';
import type { Client, Teardown } from './client.ts';
import { type DenyingAdmission, startAdmission } from './denying-admission.ts';
import { definitionPath } from './package-paths.ts';
import { definitionOf } from './registry/builder.ts';

const groups = ['apiextensions.k8s.io', 'pkg.crossplane.io'];

/** `more`: other groups whose objects packages hold. */
export function startPackageAdmission(client: Client, t: Teardown, more: readonly string[] = []): Promise<DenyingAdmission> {
  const account = client.asServiceAccount('janus-packages', 'janus-packages');
  const probe = definitionOf('probes', 'probe.org') as JsonObject;
  return startAdmission(
    {
      client,
      name: 'packages',
      user: 'system:serviceaccount:janus-packages:janus-packages',
      rule: { apiGroups: [...groups, ...more], apiVersions: ['*'], resources: ['*'] },
      probe: () => account.create(definitionPath(), probe, { dryRun: 'All' }),
    },
    t,
  );
}
