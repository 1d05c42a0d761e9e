// How much of what a registry sends is taken.
const mebibyte = 1024 * 1024;

export const limits = {
  /** Manifests and indexes. */
  manifestBytes: 4 * mebibyte,
  /** One page of tags, one token. */
  answerBytes: 4 * mebibyte,
  tags: 100_000,
  pages: 1_000,
  layers: 128,
  /** A layer as it is sent. */
  layerBytes: 64 * mebibyte,
  /** All layers of a package, unpacked. */
  unpackedBytes: 64 * mebibyte,
  tarEntries: 10_000,
  /** One document of YAML: what an API server takes is smaller. */
  documentBytes: 2 * mebibyte,
  objects: 5_000,
  /** Maps and lists inside one another. */
  levels: 100,
  /** Values in one document, those that aliases repeat among them. */
  values: 300_000,
  redirects: 5,
} as const;
