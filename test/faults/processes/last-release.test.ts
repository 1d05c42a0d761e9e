// A rolling update: two processes serve the calls in turn, and the second one runs the engine of the last release, from the repository's
// history. As long as there is no release, the test is skipped and says so.
import { execFileSync } from 'node:child_process';
import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { freeFolder } from '../../support/hook-process.ts';
import { openWorld } from '../world.ts';
import { processCampaign } from './campaign.ts';
import { processScenarios } from './scenarios.ts';

const root = join(import.meta.dirname, '..', '..', '..');

const cases = ['commit4', 'refused-last', 'request-rollback', 'fail-at-3'].map((story) => new RegExp(`:2:${story}:0$`, 'i'));

function git(...args: readonly string[]): string | undefined {
  try {
    return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return undefined; // no git, or no repository
  }
}

/** The commit of the last release. Undefined if there is no release, or if a shallow clone lacks its commit. */
function lastRelease(): string | undefined {
  const tags = git('tag', '--list', 'v*', '--merged', 'HEAD~1', '--sort=-version:refname') ?? '';
  const [release] = tags.split('\n').filter(Boolean);
  return release === undefined ? undefined : git('rev-parse', '--verify', '--quiet', `${release}^{commit}`);
}

const commit = lastRelease();

t.test(
  'two versions serve common Transactions in turn',
  { skip: commit === undefined && 'the history has no release' },
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
