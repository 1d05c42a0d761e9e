// Limits for the answers of a registry.
const mebibyte = 1024 * 1024;

export const limits = {
  /** A manifest or an index. */
  manifestBytes: 4 * mebibyte,
  /** One page of tags, or one token. */
  answerBytes: 4 * mebibyte,
  tags: 100_000,
  pages: 1_000,
  layers: 128,
  /** A layer as the registry sends it. */
  layerBytes: 64 * mebibyte,
  /** All layers of a package, unpacked. */
  unpackedBytes: 64 * mebibyte,
  tarEntries: 10_000,
  /** Extended headers (PAX, long names) of all layers. A global header counts again for each file that repeats it. */
  extendedHeaderBytes: 4 * mebibyte,
  /** The path of a file in a layer. */
  pathCharacters: 4_096,
  /** The folders above package.yaml, and the file itself. */
  pathLevels: 64,
  /** One YAML document: an API server accepts only smaller objects. */
  documentBytes: 2 * mebibyte,
  objects: 5_000,
  /** The number of documents, with empty ones. */
  documents: 20_000,
  /** Nested maps and lists. */
  levels: 100,
  /** Values in one document. Each use of an alias counts. */
  values: 300_000,
  /** The signatures of an image that are read, and their bytes in all. */
  signatures: 64,
  signatureBytes: 16 * mebibyte,
  redirects: 5,
} as const;
