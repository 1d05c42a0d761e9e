// Which tests need tools of their own beside the control plane. They are built before tap starts: a build takes minutes, which
// a test file has not, and two files that want one program would build it twice.
import { installGenerator } from '../../scripts/site/install.ts';
import { buildKubectl } from '../controlplane/build.ts';
import type { ReportLine } from './build.ts';
import { buildGitops } from './gitops/gitops.ts';
import { buildHelm } from './helm/helm.ts';
import { buildKatomik } from './katomik/katomik.ts';
import { buildKrew } from './krew/krew.ts';
import { installOldestNode } from './oldest-node/oldest-node.ts';
import { buildPackages } from './packages/packages.ts';
import { buildPackaging } from './packaging/packaging.ts';
import { buildPrometheus } from './prometheus/prometheus.ts';
import { buildRegistry } from './registry/registry.ts';

type Build = (report: ReportLine) => Promise<unknown>;

interface Need {
  /** How the paths of the tests begin. */
  readonly tests: string;
  readonly name: string;
  readonly build: Build;
}

const withKubectl = [
  ...['cli/', 'compare.test.ts', 'demo.test.ts', 'examples/', 'monitoring/'],
  ...['packaging/cli-', 'packaging/kubectl-', 'threats/rotation.test.ts'],
];

/** Those that take longest come first: parts of them keep only one core busy. */
const needs: readonly Need[] = [
  { tests: 'test/monitoring/', name: 'Prometheus', build: buildPrometheus },
  { tests: 'test/packaging/', name: 'Helm', build: buildHelm },
  { tests: 'test/release/', name: 'Helm', build: buildHelm },
  { tests: 'test/demo.test.ts', name: 'Helm', build: buildHelm },
  { tests: 'test/compare.test.ts', name: 'Helm', build: buildHelm },
  { tests: 'test/compare.test.ts', name: 'katomik', build: buildKatomik },
  { tests: 'test/packages/', name: 'registry', build: buildRegistry },
  { tests: 'test/packaging/', name: 'kustomize', build: buildPackaging },
  { tests: 'test/release/', name: 'kustomize', build: buildPackaging },
  { tests: 'test/packaging/krew.test.ts', name: 'krew', build: buildKrew },
  { tests: 'test/packages/', name: 'packages', build: buildPackages },
  { tests: 'test/gitops/', name: 'Argo CD', build: buildGitops },
  { tests: 'test/site/', name: 'VitePress', build: installGenerator },
  { tests: 'test/cli/', name: 'Node', build: installOldestNode },
];

/** Builds what these test files need. A tool that cannot be built fails the run: nothing is skipped. */
export async function buildNeeded(files: readonly string[], report: ReportLine): Promise<void> {
  const isFor = (tests: string): boolean => files.some((file) => file.startsWith(tests));
  // The others share most of their modules with the control plane, of which kubectl is a part.
  if (withKubectl.some((tests) => isFor(`test/${tests}`))) await buildKubectl(report);
  const wanted = new Map(needs.filter(({ tests }) => isFor(tests)).map(({ name, build }) => [build, name]));
  await twoAtATime(
    [...wanted].map(
      ([build, name]) =>
        () =>
          build((line) => report(`${name}: ${line}`)),
    ),
  );
}

async function twoAtATime(builds: readonly (() => Promise<unknown>)[]): Promise<void> {
  const queue = builds.values();
  const worker = async (): Promise<void> => {
    for (const build of queue) await build();
  };
  await Promise.all([worker(), worker()]);
}
