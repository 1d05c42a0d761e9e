// Which tests start a control plane: tests of pure code do not.
import { globSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { needCluster } from '../../scripts/needs-cluster.ts';

const root = join(import.meta.dirname, '..', '..');
const filesIn = (folder: string): readonly string[] => globSync(`${folder}/**/*.test.ts`, { cwd: root });

t.test('the tests of hooks/ are pure: they need none', async (t) => {
  t.ok(filesIn('test/hooks').length > 30);
  for (const file of filesIn('test/hooks')) t.notOk(needCluster([file]), file);
});

t.test('every scenario and threat on objects needs one', async (t) => {
  for (const file of filesIn('test/scenarios')) t.ok(needCluster([file]), file);
  t.ok(needCluster(['test/server/kubernetes/writes.test.ts']), 'it asks by a module beside it');
  t.ok(needCluster(['test/hooks/objects/json.test.ts', 'test/server/main.test.ts']), 'one of several');
});
