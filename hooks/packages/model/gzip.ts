/** gzip in base64: what a ConfigMap holds in `binaryData`, and what `contentFrom` of a Transaction reads. */
export interface Gzip {
  pack(text: string): string;
  /** Undefined when it is no gzip of UTF-8, or unpacks to more than `most` bytes. */
  unpack(packed: string, most: number): string | undefined;
}
