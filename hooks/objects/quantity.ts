// Quantities as Kubernetes writes them: "10Gi", "500M", "1e3".

const suffixes: Readonly<Record<string, number>> = {
  '': 1,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** The amount, exact enough to compare two quantities; NaN if the text is no quantity. */
export function parseQuantity(text: string): number {
  const [, amount = '', suffix = ''] = /^([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)([a-zA-Z]*)$/.exec(text) ?? [];
  return Number(amount === '' ? Number.NaN : amount) * (suffixes[suffix] ?? Number.NaN);
}
