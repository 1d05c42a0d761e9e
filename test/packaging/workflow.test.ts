// The workflow is well formed, has no rights but to read, and runs nothing that is not pinned. GitHub alone can run it.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { buildPackaging } from '../tools/packaging/packaging.ts';

const root = join(import.meta.dirname, '../..');
const folder = join(root, '.github/workflows');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

for (const file of readdirSync(folder))
  t.test(file, async (t) => {
    const path = join(folder, file);
    const { actionlint } = await buildPackaging((line) => t.comment(line));
    const { status, stdout } = spawnSync(actionlint, ['-no-color', path], { encoding: 'utf8' });
    t.equal(status, 0, stdout);
    const text = readFileSync(path, 'utf8');
    t.same(parse(text).permissions, { contents: 'read' });
    for (const [, action = ''] of text.matchAll(/uses: (\S+)/g)) t.match(action, /^actions\/[a-z-]+@[0-9a-f]{40}$/);
    for (const [, script = ''] of text.matchAll(/npm run ([a-z]+)/g)) t.type(manifest.scripts[script], 'string', script);
  });
