// A rolling update: two processes serve the calls in turn, and the second one runs the engine of a version before. It comes out of the
// repository's history: the last release, or, as long as there is none, the last version that made one change a call (decision 28).
import { execFileSync } from 'node:child_process';
import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { freeFolder } from '../../support/hook-process.ts';
import { openWorld } from '../world.ts';
import { processCampaign } from './campaign.ts';
import { processScenarios } from './scenarios.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const oneChangeACall = '59c2c976abe8f6ef193f81c1f6905d6ee92be174';

/** What the version before can serve: it knew no gates. */
const cases = ['commit4', 'refused-last', 'request-rollback', 'fail-at-3'].map((story) => new RegExp(`:2:${story}:0$`, 'i'));

function git(...args: readonly string[]): string | undefined {
  try {
    return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return undefined; // no git, or no repository
  }
}

/** The commit of the version before; undefined where the history is not there, as in a shallow clone. */
function versionBefore(): string | undefined {
  const [release = oneChangeACall] = (git('tag', '--list', 'v*', '--merged', 'HEAD~1', '--sort=-version:refname') ?? '')
    .split('\n')
    .filter(Boolean);
  return git('rev-parse', '--verify', '--quiet', `${release}^{commit}`);
}

const commit = versionBefore();

t.test(
  'two versions serve common Transactions in turn',
  { skip: commit === undefined && 'the history is not there' },
  async (t) => {
    const checkout = freeFolder(t);
    const packed = execFileSync('git', ['archive', commit ?? ''], { cwd: root, maxBuffer: 2 ** 28 });
    execFileSync('tar', ['-x', '-C', checkout], { input: packed });
    symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'));
    const against = join(checkout, 'server', 'main.ts');
    t.ok(existsSync(against));
    const world = await openWorld({ against });
    t.teardown(() => world.close());
    for (const scenario of processScenarios.filter(({ id }) => id === 'S20:turns')) {
      const select = (id: string): boolean => cases.some((one) => one.test(id));
      const { tried, failures } = await processCampaign(world, scenario, { select, atOnce: 2 });
      t.equal(tried, cases.length);
      t.same(failures, []);
    }
  },
);
