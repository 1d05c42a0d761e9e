// Which tests need tools of their own beside the control plane. They are built before tap starts: a build takes minutes, which
// a test file has not, and two files that want the same one would build it twice.
import { buildKubectl } from '../controlplane/build.ts';
import type { ReportLine } from './build.ts';
import { buildLua } from './gitops/gitops.ts';
import { buildHelm } from './helm/helm.ts';
import { installOldestNode } from './oldest-node/oldest-node.ts';
import { buildPackages } from './packages/packages.ts';
import { buildPackaging } from './packaging/packaging.ts';
import { buildPrometheus } from './prometheus/prometheus.ts';
import { buildRegistry } from './registry/registry.ts';

interface Need {
  /** How the paths of the tests begin. */
  readonly tests: string;
  readonly build: (report: ReportLine) => Promise<unknown>;
}

const needs: readonly Need[] = [
  ...['cli/', 'demo.test.ts', 'examples/', 'monitoring/', 'packaging/cli-', 'packaging/kubectl-', 'threats/rotation.test.ts'].map(
    (tests) => ({
      tests: `test/${tests}`,
      build: buildKubectl,
    }),
  ),
  { tests: 'test/cli/', build: installOldestNode },
  { tests: 'test/monitoring/', build: buildPrometheus },
  { tests: 'test/packaging/', build: buildPackaging },
  { tests: 'test/packaging/', build: buildHelm },
  { tests: 'test/gitops/', build: buildLua },
  { tests: 'test/release/', build: buildHelm },
  { tests: 'test/release/', build: buildPackaging },
  { tests: 'test/packages/', build: buildPackages },
  { tests: 'test/packages/', build: buildRegistry },
];

/** Builds what these test files need. A tool that cannot be built fails the run: nothing is skipped. */
export async function buildNeeded(files: readonly string[], report: ReportLine): Promise<void> {
  for (const { tests, build } of needs) {
    if (files.some((file) => file.startsWith(tests))) await build(report);
  }
}
