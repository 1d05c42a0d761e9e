// The command line as a user types it, as one of several users.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parse, stringify } from 'yaml';
import { type JsonObject, textAt } from '../../hooks/model/json.ts';
import { must, type Teardown, waitFor } from '../support/client.ts';
import type { Stage } from '../support/stage.ts';

interface Typed {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Terminal {
  /** Writes a file, and returns its path. */
  file(name: string, content: string | JsonObject): string;
  type(words: readonly string[], as?: string, env?: Readonly<Record<string, string>>): Promise<Typed>;
  /** Everything that was printed. */
  readonly printed: string[];
  /** A kubeconfig for a ServiceAccount of the stage with these rules. Returns its path. */
  user(name: string, rules: readonly JsonObject[]): Promise<string>;
}

const program = resolve('cli/main.ts');

export function openTerminal(t: Teardown, stage: Stage): Terminal {
  const folder = mkdtempSync(join(tmpdir(), 'janus-typed-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const printed: string[] = [];
  const file: Terminal['file'] = (name, content) => {
    const path = join(folder, name);
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content, undefined, 1));
    return path;
  };
  return {
    file,
    printed,
    type: async (words, as = stage.kubeconfig, env = {}) => {
      const typed = await ran([program, ...words], folder, { KUBECONFIG: as, ...env });
      printed.push(typed.stdout, typed.stderr);
      return typed;
    },
    user: async (name, rules) => {
      const token = await tokenOf(t, stage, name, rules);
      const config = parse(readFileSync(stage.kubeconfig, 'utf8')) as {
        users: { name: string }[];
        contexts: { context: object }[];
      };
      const users = config.users.map((one) => ({ name: one.name, user: { token } }));
      const contexts = config.contexts.map((one) => ({ ...one, context: { ...one.context, namespace: stage.namespace } }));
      return file(`${name}.kubeconfig`, stringify({ ...config, users, contexts }));
    },
  };
}

function ran(words: readonly string[], folder: string, env: Readonly<Record<string, string>>): Promise<Typed> {
  const child = spawn(process.execPath, [...words], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr]: [string[], string[]] = [[], []];
  child.stdout.setEncoding('utf8').on('data', (text: string) => stdout.push(text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => stderr.push(text));
  return new Promise((done, fail) => {
    child.on('error', fail);
    child.on('close', (code) => done({ code, stdout: stdout.join(''), stderr: stderr.join('') }));
  });
}

const rbac = '/apis/rbac.authorization.k8s.io/v1';

async function tokenOf(
  t: Teardown,
  { client, namespace, path }: Stage,
  name: string,
  rules: readonly JsonObject[],
): Promise<string> {
  const own = `${namespace}-${name}`;
  must(await client.create(path('serviceaccounts'), { metadata: { name } }));
  must(await client.create(`${rbac}/clusterroles`, { metadata: { name: own }, rules }));
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: own };
  const subjects = [{ kind: 'ServiceAccount', name, namespace }];
  must(await client.create(`${rbac}/clusterrolebindings`, { metadata: { name: own }, roleRef, subjects }));
  t.teardown(async () => {
    await client.delete(`${rbac}/clusterrolebindings/${own}`);
    await client.delete(`${rbac}/clusterroles/${own}`);
  });
  const answer = await client.create(path(`serviceaccounts/${name}/token`), {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds: 3_600 },
  });
  const token = textAt(must(answer), 'status', 'token') ?? '';
  // The authorizer learns of the binding a moment later.
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes: { verb: rules[0] === undefined ? 'get' : 'list', resource: 'none' } },
  };
  await waitFor(
    async () =>
      (await client.asServiceAccount(namespace, name).create('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', review))
        .code === 201,
    `${name} to be known`,
  );
  return token;
}
