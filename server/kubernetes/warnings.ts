// The Warning headers of an answer: what the API server, an admission webhook or an admission policy says of a write that it accepts.
// Strangers write the texts, of any length, so this file bounds and cleans them.
// Source: k8s.io/apimachinery pkg/util/net/http.go, NewWarningHeader and ParseWarningHeader; k8s.io/apiserver pkg/endpoints/filters/warning.go.
import type { Warnings } from '../../hooks/objects/cluster.ts';
import { foreign, mostWarnings, warningLength } from '../../hooks/objects/words.ts';

/** `299 - "text"`; a proxy may join several in one header. */
const oneWarning = /(?:^|,)\s*\d{3} [^\s"]+ "((?:[^"\\]|\\.)*)"/g;

/** Characters of all headers that are read: the API server sends 4 096. */
const mostRead = 64 * 1024;

/** The warnings in the header, each text once; absent if there are none. */
export function warningsIn(header: string | string[] | undefined): { readonly warnings?: Warnings } {
  if (header === undefined) return {};
  const joined = [header].flat().join(', ').slice(0, mostRead);
  const texts = new Set([...joined.matchAll(oneWarning)].map(([, text = '']) => text.replaceAll(/\\(.)/g, '$1')));
  if (texts.size === 0) return {};
  const shown = [...texts].slice(0, mostWarnings).map((text) => foreign(inUtf8(text), warningLength));
  return { warnings: { count: texts.size, texts: shown } };
}

// undici reads headers as Latin-1, and the API server writes UTF-8.
function inUtf8(text: string): string {
  return Buffer.from(text, 'latin1').toString('utf8');
}
