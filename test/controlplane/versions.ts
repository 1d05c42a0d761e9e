// Which Kubernetes the control plane is: the one that go.mod pins, or another minor version (`--kubernetes 1.34`), built from the
// modules of its last patch release. Its go.mod is made here, as that of k8s.io/kubernetes names its own parts by folders of its
// repository, which no other user has.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { requiredGo, runGo } from '../tools/go.ts';

/** By minor version. 1.30 is the first that serves ValidatingAdmissionPolicy as v1, which the manifests use. */
const patches: Readonly<Record<string, string>> = {
  '1.30': '1.30.14',
  '1.31': '1.31.14',
  '1.32': '1.32.13',
  '1.33': '1.33.13',
  '1.34': '1.34.4',
  '1.35': '1.35.4',
  '1.36': /k8s\.io\/kubernetes v(\S+)/.exec(readFileSync(join(import.meta.dirname, 'go.mod'), 'utf8'))?.[1] ?? '',
  '1.37': '1.37.2',
};
const pinned = '1.36';

export const minors: readonly string[] = Object.keys(patches);

/** The environment variable by which `--kubernetes` reaches each process that starts a control plane. */
export const variable = 'JANUS_KUBERNETES';

/** The patch release of a minor version; the pinned one for none. Throws a sentence for a version that is not known here. */
export function patchOf(minor = pinned): string {
  const patch = Object.hasOwn(patches, minor) ? patches[minor] : undefined;
  if (patch === undefined) throw new Error(`--kubernetes: expected one of ${minors.join(', ')}, found "${minor}".`);
  return patch;
}

export function isPinned(patch: string): boolean {
  return patch === patches[pinned];
}

/** The folder of go.mod and go.sum of a patch release, in the user's cache; made once, which takes the network. */
export async function moduleOf(patch: string, env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const folder = moduleFolder(patch, env);
  if (existsSync(folder)) return folder;
  mkdirSync(dirname(folder), { recursive: true });
  const unfinished = mkdtempSync(`${folder}.building-`);
  try {
    await writeModule(patch, unfinished);
    if (!existsSync(folder)) renameSync(unfinished, folder);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return folder;
}

/** Where it is, or will be. */
export function moduleFolder(patch: string, env: NodeJS.ProcessEnv = process.env): string {
  return isPinned(patch)
    ? import.meta.dirname
    : join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'janus', `kubernetes-${patch}`);
}

async function writeModule(patch: string, directory: string): Promise<void> {
  const title = `Kubernetes ${patch}`;
  const go = async (args: readonly string[], failed: string): Promise<string> => {
    const { code, stdout, stderr } = await runGo({ directory, title }, args);
    if (code !== 0) throw new Error(`${title}: ${failed}:\n${stderr.split('\n').slice(-15).join('\n')}`);
    return stdout;
  };
  writeFileSync(join(directory, 'go.mod'), `module controlplane\n\ngo ${requiredGo(import.meta.dirname)}\n`);
  const found = await go(['mod', 'download', '-json', `k8s.io/kubernetes@v${patch}`], 'go could not download its module');
  writeFileSync(join(directory, 'go.mod'), moduleText(patch, readFileSync(JSON.parse(found).GoMod, 'utf8')));
  // Writes down what the three programs require, with checksums.
  await go(['list', '-mod=mod', '-deps', 'tool'], 'go could not load its packages');
}

/** `theirs` is the go.mod of that k8s.io/kubernetes. Programs behave as by the Go that it was made for. */
export function moduleText(patch: string, theirs: string): string {
  const [, ofGo = ''] = /^godebug default=go(\S+)$/m.exec(theirs) ?? /^go (\d+\.\d+)/m.exec(theirs) ?? [];
  const parts = [...theirs.matchAll(/^\s*(?:replace )?(\S+) => \.\/staging\/src\//gm)].map(([, part]) => part);
  if (ofGo === '' || parts.length === 0) throw new Error(`Kubernetes ${patch}: its go.mod names no Go version, or no parts`);
  const version = patch.replace(/^1\./, '0.');
  return `module controlplane

go ${requiredGo(import.meta.dirname)}

godebug default=go${ofGo}

require k8s.io/kubernetes v${patch}

tool (
	go.etcd.io/etcd/server/v3
	k8s.io/kubernetes/cmd/kube-apiserver
	k8s.io/kubernetes/cmd/kube-controller-manager
)

replace (
${parts.map((part) => `\t${part} => ${part} v${version}`).join('\n')}
)
`;
}
