// Amounts, and names of kinds, in words.
export function amount(number: number, noun: string): string {
  return `${number} ${number === 1 ? noun : pluralOf(noun)}`;
}

/** `Ingresses`, `NetworkPolicies`, `Gateways`. */
function pluralOf(kind: string): string {
  if (kind === 'Endpoints') return kind;
  if (kind.endsWith('s')) return `${kind}es`;
  return /[^aeiou]y$/.test(kind) ? `${kind.slice(0, -1)}ies` : `${kind}s`;
}
