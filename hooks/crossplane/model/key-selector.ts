// Certificates and keys that an administrator keeps in the namespace of packages.

/** A key of a ConfigMap or of a Secret. */
export interface KeySelector {
  readonly kind: 'ConfigMap' | 'Secret';
  readonly name: string;
  readonly key: string;
}

/** `KIND/NAME/KEY`; undefined for any other text. */
export function readKeySelector(text: string): KeySelector | undefined {
  const [, kind, name, key] = form.exec(text) ?? [];
  if ((kind !== 'ConfigMap' && kind !== 'Secret') || name === undefined || key === undefined) return undefined;
  return { kind, name, key };
}

const form = /^(ConfigMap|Secret)\/([a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?)\/([-._a-zA-Z0-9]{1,253})$/;

export function writeKeySelector({ kind, name, key }: KeySelector): string {
  return `${kind}/${name}/${key}`;
}
