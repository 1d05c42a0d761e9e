// The registry of the Distribution project, from the module pinned in go.mod.
import { buildsProgram } from '../build.ts';

export const buildRegistry = buildsProgram('distribution', {
  directory: import.meta.dirname,
  name: 'registry',
  title: 'The registry for tests',
  cost: 'less than a minute on 2 cores',
});
