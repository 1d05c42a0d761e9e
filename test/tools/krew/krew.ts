// The validator of krew's index, from the module pinned in go.mod.
import { buildsProgram } from '../build.ts';

export const buildKrew = buildsProgram('validate-krew-manifest', {
  directory: import.meta.dirname,
  name: 'krew',
  title: 'What validates manifests of krew for tests',
  cost: 'about 1 minute on 2 cores',
});
