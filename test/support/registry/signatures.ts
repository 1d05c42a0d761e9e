// Pushes signatures to registries as cosign does.
import type { SignedText } from '../sigstore.ts';
import { blobOf, push } from './builder.ts';

interface Layer {
  readonly content: string;
  readonly mediaType: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

const oci = 'application/vnd.oci.image';
const manifestType = `${oci}.manifest.v1+json`;
const indexType = `${oci}.index.v1+json`;

function imageOf(layers: readonly Layer[], more: object = {}) {
  const config = blobOf('{}');
  const blobs = layers.map(({ content }) => blobOf(content));
  const manifest = {
    schemaVersion: 2,
    mediaType: manifestType,
    config: { mediaType: `${oci}.config.v1+json`, digest: config.digest, size: config.bytes.length },
    layers: layers.map(({ mediaType, annotations }, index) => ({
      ...{ mediaType, annotations, digest: blobs[index]?.digest, size: blobs[index]?.bytes.length },
    })),
    ...more,
  };
  return { manifest: blobOf(JSON.stringify(manifest)), mediaType: manifestType, blobs: [config, ...blobs] };
}

interface Place {
  readonly origin: string;
  readonly repository: string;
  /** The image that is signed. */
  readonly digest: string;
}

const types = {
  sig: 'application/vnd.dev.cosign.simplesigning.v1+json',
  att: 'application/vnd.dsse.envelope.v1+json',
} as const;

/** Signatures or attestations below the tag of the image. */
export async function pushSigned(
  { digest, ...place }: Place,
  signed: readonly SignedText[],
  ending: 'sig' | 'att' = 'sig',
): Promise<string> {
  const image = imageOf(signed.map((one) => ({ ...one, mediaType: types[ending] })));
  return push({ ...place, tag: `${digest.replace(':', '-')}.${ending}` }, image);
}

const bundleType = 'application/vnd.dev.sigstore.bundle.v0.3+json';

/** Bundles that refer to the image, and the index that stands for the list of them where the registry has no such list. */
export async function pushBundles({ digest, ...place }: Place, bundles: readonly string[]): Promise<void> {
  const listed: object[] = [];
  for (const content of bundles) {
    const subject = { mediaType: manifestType, digest, size: 1 };
    const image = imageOf([{ content, mediaType: bundleType }], { artifactType: bundleType, subject });
    const { bytes, digest: own } = image.manifest;
    await push({ ...place, tag: own }, image);
    listed.push({ mediaType: manifestType, digest: own, size: bytes.length, artifactType: bundleType });
  }
  const index = { schemaVersion: 2, mediaType: indexType, manifests: listed };
  await push(
    { ...place, tag: digest.replace(':', '-') },
    { manifest: blobOf(JSON.stringify(index)), mediaType: indexType, blobs: [] },
  );
}
