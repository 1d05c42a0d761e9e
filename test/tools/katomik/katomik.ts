// katomik, from the module pinned in go.mod, with the modules of its release.
import { buildsProgram } from '../build.ts';

export const buildKatomik = buildsProgram('katomik', {
  directory: import.meta.dirname,
  name: 'katomik',
  title: 'katomik',
  cost: 'about 2 minutes on 2 cores',
});
