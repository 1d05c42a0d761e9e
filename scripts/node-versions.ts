// The documents that name the version of Node. `npm run generate` writes them from package.json. Dependabot updates the Dockerfile with its
// digest; CONTRIBUTING.md lists the next steps.
const places: Readonly<Record<string, readonly [place: RegExp, parts: number]>> = {
  'CONTRIBUTING.md': [/(?<=^`npm test`: .* Node )\d+(\.\d+)*/m, 3],
  'docs/upgrade.md': [/(?<=^\| Node .*\| )\d+(\.\d+)*(?= +\|$)/m, 2],
  'docs/releasing.md': [/(?<=imagetools inspect node:)\d+(\.\d+)*/m, 3],
};

export const namingNode = Object.keys(places);

/** The text of one of these documents, with this version. */
export function withNode(path: string, text: string, version: string): string {
  const [place, parts] = places[path] ?? [];
  if (place === undefined || !place.test(text)) throw new Error(`${path}: expected a version of Node at ${place}, found none`);
  return text.replace(place, version.split('.').slice(0, parts).join('.'));
}
