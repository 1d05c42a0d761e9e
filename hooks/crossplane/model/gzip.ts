/** gzip in base64: a ConfigMap holds it in `binaryData`, and `contentFrom` of a Transaction reads it. */
export interface Gzip {
  pack(text: string): string;
  /** Undefined if the text is no gzip of UTF-8, or unpacks to more than `most` bytes. */
  unpack(packed: string, most: number): string | undefined;
}
