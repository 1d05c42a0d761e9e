// Finds the place of a node in a file: `file:line:column`. `yaml` keeps the places of nodes; js-yaml, which reads the values, does not.
import { type Document, isNode, LineCounter, parseAllDocuments } from 'yaml';
import type { JsonObject } from '../../hooks/objects/json.ts';
import { manifestsIn, type Source } from './read.ts';
import { isTransaction } from './release.ts';

interface Placed {
  readonly object: JsonObject;
  /** The place of the change of that index; without one, of the object. */
  placeOf(index: number | undefined): string;
}

/** The Transactions in a text. Throws a Problem if the text is not YAML of objects. */
export function placedTransactions(source: Source): readonly Placed[] {
  const objects = manifestsIn(source).map(({ object }) => object);
  const counter = new LineCounter();
  const parsed = parseAllDocuments(source.text, { lineCounter: counter, version: '1.1', uniqueKeys: false });
  // The reader of the values limits the size of expanded aliases.
  const documents = ('empty' in parsed ? [] : parsed).filter(
    (one) => one.contents !== null && one.toJS({ maxAliasCount: -1 }) !== null,
  );
  // A List has several objects in one document. Their place is the place of the document.
  const isEven = documents.length === objects.length;
  return objects.flatMap((object, at) => {
    const document = isEven ? documents[at] : documents[0];
    if (!isTransaction(object) || document === undefined) return [];
    return [{ object, placeOf: (index) => placeIn(source.name, document, counter, isEven ? index : undefined) }];
  });
}

function placeIn(name: string, document: Document, counter: LineCounter, index: number | undefined): string {
  const node = index === undefined ? document.contents : document.getIn(['spec', 'changes', index], true);
  const offset = isNode(node) ? (node.range?.[0] ?? 0) : 0;
  const { line, col } = counter.linePos(offset);
  return `${name}:${line}:${col}`;
}
