// Which objects --keep and --overwrite take.
import t from 'tap';
import { selectionIn } from '../../cli/input/selections.ts';

t.test('an object is named as the API server names it, Roles with blanks and colons included', async (t) => {
  const named = ['ConfigMap/a', 'Deployment.apps/shop/web', 'ClusterRole/system:node', 'Role/shop/pod reader', 'Role/é (all)'];
  for (const one of named) t.same(selectionIn('keep', [one]), [one]);
  t.same(selectionIn('keep', ['Role/pod reader, ConfigMap/a', 'cm/b']), ['Role/pod reader', 'ConfigMap/a', 'cm/b']);
  for (const wrong of ['web', 'ConfigMap/', 'ConfigMap/..', 'ConfigMap/a%', 'Role/a\tb', 'Role/a\nb', 'a/b/c/d', 'Role/shop/ /x'])
    t.throws(() => selectionIn('keep', [wrong]), { message: /^--keep takes KIND/ }, JSON.stringify(wrong));
});
