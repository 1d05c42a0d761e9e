// Clients with a cache of their own, and what they read.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Registry, RegistryFailure, VerifyingRegistry } from '../../../hooks/crossplane/registry.ts';
import type { JsonObject } from '../../../hooks/objects/json.ts';
import { type ClientOptions, createRegistryClient } from '../../../server/registry/client.ts';
import type { Teardown } from '../../support/client.ts';

interface Opened extends VerifyingRegistry {
  readonly directory: string;
  cached(): readonly string[];
  /** Another call of this client. */
  again(): VerifyingRegistry;
}

interface Opening extends Partial<ClientOptions> {
  readonly pullSecrets?: readonly string[];
  readonly configured?: string | undefined;
  readonly authority?: string;
  readonly isNamed?: boolean;
  readonly deadline?: number;
  readonly root?: string;
}

export function openRegistry(t: Teardown, opening: Opening = {}): Opened {
  const { pullSecrets = [], deadline = 60_000, root, configured, authority, isNamed, ...options } = opening;
  const call = { pullSecrets, deadline, configured, authority, ...(isNamed === undefined ? {} : { isNamed }) };
  const directory = options.cacheDirectory ?? mkdtempSync(join(tmpdir(), 'janus-packages-'));
  const client = createRegistryClient({ cacheBytes: 1 << 30, ...options, cacheDirectory: directory });
  t.teardown(async () => {
    await client.close();
    rmSync(directory, { recursive: true, force: true });
  });
  const again = (): VerifyingRegistry => client.open({ ...call, ...(root === undefined ? {} : { root }) });
  return { ...again(), again, directory, cached: () => readdirSync(directory) };
}

export function dockerConfig(host: string, username: string, password: string): string {
  return JSON.stringify({ auths: { [host]: { auth: Buffer.from(`${username}:${password}`).toString('base64') } } });
}

/** The objects of a package, or why it cannot be read. */
export async function objectsOf(
  registry: Registry,
  source: string,
  digest: string,
): Promise<readonly JsonObject[] | RegistryFailure> {
  const objects: JsonObject[] = [];
  const answer = await registry.read(source, digest, (object) => objects.push(object));
  return answer.kind === 'ok' ? objects : answer.failure;
}

export function failureOf(answer: object): RegistryFailure {
  if ('failure' in answer) return answer.failure as RegistryFailure;
  throw new Error(`expected a failure, found ${JSON.stringify(answer)}`);
}
