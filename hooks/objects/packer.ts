/**
 * Makes what is stored where others can write recognisable as ours: sealed where they must not read it (AES-256-GCM), else tagged
 * (HMAC-SHA-256). `context` says where the text belongs, and must agree when it is read. Nothing here throws on what was read.
 */
export interface Packer {
  seal(text: string, context: string): string;
  /**
   * Undefined when the text was tampered with, has another context, was sealed with a key that we do not have, or expands to more
   * than `most` bytes. Nothing is expanded that is not authentic.
   */
  open(sealed: string, context: string, most: number): string | undefined;
  /** Proves that the text is ours, and belongs to that context. */
  tag(text: string, context: string): string;
  isTagged(text: string, tag: string, context: string): boolean;
  /** What nobody can guess and every process finds again: one for each key that we have, that of the current one first. */
  derive(text: string): readonly [string, ...string[]];
  compress(text: string): string;
  /** Undefined when it is not what `compress` gives, or expands to more than `most` bytes. */
  expand(compressed: string, most: number): string | undefined;
}
