// Helm, from the module pinned in go.mod.
import { buildsProgram } from '../build.ts';

export const buildHelm = buildsProgram('helm', {
  directory: import.meta.dirname,
  name: 'helm',
  title: 'Helm',
  cost: 'about 2 minutes on 2 cores',
});
