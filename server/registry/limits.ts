// Limits for what a registry sends.
const mebibyte = 1024 * 1024;

export const limits = {
  /** A manifest or an index. */
  manifestBytes: 4 * mebibyte,
  /** One page of tags, or one token. */
  answerBytes: 4 * mebibyte,
  tags: 100_000,
  pages: 1_000,
  layers: 128,
  /** A layer as it is sent. */
  layerBytes: 64 * mebibyte,
  /** All layers of a package, unpacked. */
  unpackedBytes: 64 * mebibyte,
  tarEntries: 10_000,
  /** Extended headers (PAX, long names) of all layers; a global one counts again for each file that repeats it. */
  extendedHeaderBytes: 4 * mebibyte,
  /** Of one file in a layer. */
  pathCharacters: 4_096,
  /** Folders above package.yaml, and itself. */
  pathLevels: 64,
  /** One YAML document: an API server accepts only smaller objects. */
  documentBytes: 2 * mebibyte,
  objects: 5_000,
  /** With those that are empty. */
  documents: 20_000,
  /** Nested maps and lists. */
  levels: 100,
  /** Values in one document; each use of an alias counts. */
  values: 300_000,
  redirects: 5,
} as const;
