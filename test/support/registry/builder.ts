// Builds packages byte by byte: valid and invalid ones.
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';

interface Blob {
  readonly bytes: Buffer;
  readonly digest: string;
}

export function blobOf(content: string | Buffer): Blob {
  const bytes = Buffer.from(content);
  return { bytes, digest: `sha256:${createHash('sha256').update(bytes).digest('hex')}` };
}

export type File = Parameters<ReturnType<typeof pack>['entry']>[0] & { readonly content?: string | Buffer };

/** A tar of these files. */
export async function tarOf(...files: readonly File[]): Promise<Buffer> {
  const tar = pack();
  for (const { content, ...header } of files) tar.entry(header, content ?? '');
  tar.finalize();
  const chunks: Uint8Array[] = [];
  for await (const chunk of tar as unknown as AsyncIterable<Uint8Array>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

export async function layerOf(stream: string | Buffer): Promise<Buffer> {
  return gzipSync(await tarOf({ name: 'package.yaml', content: stream }), { level: 1 });
}

interface Image {
  readonly manifest: Blob;
  readonly mediaType: string;
  readonly blobs: readonly Blob[];
}

interface LayerOptions {
  readonly annotation?: string;
  /** Replaces the true digest and size. */
  readonly digest?: string;
  readonly size?: number;
}

const oci = 'application/vnd.oci.image';

/** An OCI image with these layers, the lowest first. */
export function imageOf(layers: readonly (readonly [bytes: Buffer, options?: LayerOptions])[]): Image {
  const config = blobOf('{}');
  const blobs = layers.map(([bytes]) => blobOf(bytes));
  const mediaType = `${oci}.manifest.v1+json`;
  const manifest = {
    schemaVersion: 2,
    mediaType,
    config: { mediaType: `${oci}.config.v1+json`, digest: config.digest, size: config.bytes.length },
    layers: layers.map(([bytes, options = {}], index) => ({
      mediaType: `${oci}.layer.v1.tar+gzip`,
      digest: options.digest ?? blobs[index]?.digest,
      size: options.size ?? bytes.length,
      ...(options.annotation === undefined ? {} : { annotations: { 'io.crossplane.xpkg': options.annotation } }),
    })),
  };
  return { manifest: blobOf(JSON.stringify(manifest)), mediaType, blobs: [config, ...blobs] };
}

export async function packageOf(stream: string | Buffer): Promise<Image> {
  return imageOf([[await layerOf(stream), { annotation: 'base' }]]);
}

interface Target {
  /** `http://127.0.0.1:PORT`. */
  readonly origin: string;
  readonly repository: string;
  readonly tag: string;
  readonly authorization?: string;
}

/** Pushes an image; returns its digest. */
export async function push({ origin, repository, tag, authorization }: Target, image: Image): Promise<string> {
  const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
  for (const { bytes, digest } of image.blobs) {
    const started = await must(fetch(`${origin}/v2/${repository}/blobs/uploads/`, { method: 'POST', headers }), 202);
    const url = new URL(started.headers.get('location') ?? '', origin);
    url.searchParams.set('digest', digest);
    const body = new Uint8Array(bytes);
    await must(fetch(url, { method: 'PUT', body, headers: { ...headers, 'content-type': 'application/octet-stream' } }), 201);
  }
  await must(
    fetch(`${origin}/v2/${repository}/manifests/${tag}`, {
      method: 'PUT',
      body: new Uint8Array(image.manifest.bytes),
      headers: { ...headers, 'content-type': image.mediaType },
    }),
    201,
  );
  return image.manifest.digest;
}

async function must(answer: Promise<Response>, code: number): Promise<Response> {
  const response = await answer;
  const text = await response.text();
  if (response.status !== code) throw new Error(`${response.url}: expected ${code}, found ${response.status}: ${text}`);
  return response;
}

export type PackageKind = 'Provider' | 'Configuration' | 'Function';

interface Meta {
  readonly kind: PackageKind;
  readonly name: string;
  readonly dependsOn: readonly { readonly kind: PackageKind; readonly source: string; readonly version: string }[];
}

/** package.yaml of a package with these objects. */
export function packageYaml({ kind, name, dependsOn }: Meta, objects: readonly object[]): string {
  const named = dependsOn.map(({ kind, source, version }) => ({
    apiVersion: 'pkg.crossplane.io/v1',
    kind,
    package: source,
    version,
  }));
  const meta = { apiVersion: 'meta.pkg.crossplane.io/v1', kind, metadata: { name }, spec: { dependsOn: named } };
  return ['', ...[meta, ...objects].map((one) => `${JSON.stringify(one)}\n`), ''].join('---\n');
}

/** package.yaml of a Provider that requires these Providers. */
export function providerYaml(
  name: string,
  requires: Readonly<Record<string, string>> = {},
  objects: readonly object[] = [],
): string {
  const dependsOn = Object.entries(requires).map(([source, version]) => ({ kind: 'Provider', source, version }) as const);
  return packageYaml({ kind: 'Provider', name, dependsOn }, objects);
}

/** A CustomResourceDefinition with one version, and with this schema for the field `spec`. */
export function definitionOf(plural: string, group: string, spec: object = { type: 'object' }, version = 'v1beta1'): object {
  const kind = plural.charAt(0).toUpperCase() + plural.slice(1, -1);
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Cluster',
      names: { kind, plural },
      versions: [{ name: version, served: true, storage: true, schema }],
    },
  };
}
