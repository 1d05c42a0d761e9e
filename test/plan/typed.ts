// The command line as a user types it, by the packed program, as one of several users.
import { readFileSync } from 'node:fs';
import { parse, stringify } from 'yaml';
import { type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { openCli } from '../support/cli.ts';
import { must, type Teardown, waitFor } from '../support/client.ts';
import type { Stage } from '../support/stage.ts';

interface Typed {
  /** Null if it was killed. */
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

export async function openTerminal(t: Teardown, stage: Stage): Promise<Terminal> {
  const cli = await openCli(t, stage.kubeconfig);
  const printed: string[] = [];
  const file: Terminal['file'] = (name, content) =>
    cli.write(name, typeof content === 'string' ? content : JSON.stringify(content, undefined, 1));
  return {
    file,
    printed,
    type: async (words, as = stage.kubeconfig, env = {}) => {
      const { code, out, err } = await cli.run(words, { env: { KUBECONFIG: as, ...env } });
      printed.push(out, err);
      return { code, stdout: out, stderr: err };
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
