// `npm run kind` as far as it goes without Docker: what it says is missing, and with stand-ins that write down how they were
// called, what it runs and in which order. With Docker the workflow runs it for real.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';

const script = join(import.meta.dirname, '../../scripts/kind.ts');

/** Programs that read what they are given, note their arguments and end with 0, but with 1 where these hold `fails`. */
function standIns(
  t: { testdir(content: Record<string, string>): string },
  names: readonly string[],
  fails = 'nothing',
): { readonly path: string; readonly log: string } {
  const path = t.testdir({});
  const log = join(path, 'log');
  for (const name of names) {
    const file = join(path, name);
    writeFileSync(
      file,
      `#!/bin/sh\nwhile read -r _; do :; done\necho "${name} $*" >> ${log}\ncase "$*" in *"${fails}"*) exit 1;; esac\n`,
    );
    chmodSync(file, 0o755);
  }
  return { path, log };
}

function run(path: string, ...args: readonly string[]) {
  const env = { PATH: path, HOME: path };
  const { status, stderr, stdout } = spawnSync(process.execPath, [script, ...args], { env, encoding: 'utf8' });
  return { status, stderr, stdout };
}

t.test('without tools the command names the tools to install', async (t) => {
  const { status, stderr } = run(standIns(t, []).path);
  t.equal(status, 1);
  for (const tool of ['docker', 'kubectl', 'kind']) t.match(stderr, `- ${tool}: found`);
});

t.test('without a daemon it says so', async (t) => {
  const { status, stderr } = run(standIns(t, ['docker', 'kubectl', 'kind'], 'info').path);
  t.equal(status, 1);
  t.match(stderr, 'its daemon does not answer');
});

t.test('it takes no other words', async (t) => {
  t.match(run('', 'up', 'now'), { status: 2, stderr: 'expected nothing or down, found up now' });
});

t.test('image, cluster, Metacontroller, token, engine, example', async (t) => {
  const { path, log } = standIns(t, ['docker', 'kubectl', 'kind']);
  const { status, stdout } = run(path);
  t.equal(status, 0);
  const steps = readFileSync(log, 'utf8')
    .split('\n')
    .filter((line) => !/version|info/.test(line));
  const expected = [
    /^docker build --tag janus-on-metacontroller:/,
    /^kind create cluster/,
    /^kind load docker-image janus-on-metacontroller:/,
    /apply .*metacontroller-crds-v1.yaml$/,
    /wait .*compositecontrollers/,
    /apply .*namespace.yaml$/,
    /apply -f -$/,
    /apply -k .*examples\/kind$/,
    /rollout status statefulset\/metacontroller/,
    /rollout status deployment\/janus/,
    /apply .*shop.yaml$/,
    /apply .*deploy-v2.yaml$/,
    /wait --for=condition=Finished .*deploy-v2$/,
    /get tx/,
    /wait --for=condition=Succeeded .*deploy-v2$/,
    /apply .*release-7.yaml$/,
    /wait --for=condition=Finished .*release-7$/,
    /get tx/,
    /wait --for=condition=Succeeded .*release-7$/,
  ];
  for (const [index, pattern] of expected.entries()) t.match(steps[index], pattern);
  t.match(stdout, /export KUBECONFIG=\S+/);
  t.notMatch(stdout, /[0-9a-f]{64}/, 'the token is not shown');
  rmSync(log);
  t.equal(run(path, 'down').status, 0);
  t.match(readFileSync(log, 'utf8'), 'kind delete cluster --name janus');
});

t.test('the command names a failed step, and ends', async (t) => {
  const { path, log } = standIns(t, ['docker', 'kubectl', 'kind'], 'create cluster');
  const { status, stderr } = run(path);
  t.equal(status, 1);
  t.match(stderr, /- kind create ended with 1.*\n- `npm run kind -- down`/);
  t.notMatch(readFileSync(log, 'utf8'), 'load');
  t.notOk(existsSync(join(path, '.kube')), "the user's own kubeconfig is left alone");
});
