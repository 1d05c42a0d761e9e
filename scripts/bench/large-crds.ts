// Makes CRDs as large as those of providers.
import { definitionOf } from '../../test/support/registry/builder.ts';

export const crdBytes = 60_000;

export function definitions(group: string, count: number): readonly object[] {
  return Array.from({ length: count }, (_, index) => largeDefinition(group, index));
}

/** A CRD of that size. Its descriptions and names are like those of providers. */
export function largeDefinition(group: string, index: number): object {
  const properties: Record<string, object> = {};
  const schema = { type: 'object', properties };
  for (let bytes = 0, field = 0; bytes < crdBytes; field += 1) {
    const name = `${wordOf(index, field)}${field}`;
    const words = Array.from({ length: 20 }, (_, position) => wordOf(index * 31 + field, position)).join(' ');
    const property = { type: 'string', description: `The ${words} of this ${name}.`, maxLength: 1 + field };
    properties[name] = property;
    bytes += name.length + JSON.stringify(property).length;
  }
  return definitionOf(`thing${index}s`, group, schema);
}

function wordOf(seed: number, position: number): string {
  return (((seed * 2_654_435_761 + position * 40_503) % 400) + 1_000).toString(36).replace(/\d/g, 'a');
}
