// Content that contradicts its target, is no object, or is meant to exhaust whoever reads it.
import fc from 'fast-check';
import type { Json, JsonObject } from '../../../hooks/objects/json.ts';
import { anyText, label, specialKey } from '../chance.ts';
import { type BadTransaction, changeWith, goodContent, invalid, ofContent, ofMetadata, some, specWith } from './specs.ts';

export const contents: readonly BadTransaction[] = [
  {
    name: 'content of another kind',
    spec: ofContent(label.map((kind) => ({ ...goodContent, kind }))),
    end: invalid(/content\.kind is ".*", the target says "ConfigMap"/),
  },
  {
    name: 'content of another version',
    spec: ofContent(label.map((version) => ({ ...goodContent, apiVersion: `x/${version}` }))),
    end: invalid(/content\.apiVersion is/),
  },
  {
    name: 'content of another name',
    spec: ofMetadata(label.map((name) => ({ name: `x-${name}` }))),
    end: invalid(/content\.metadata\.name is/),
  },
  {
    name: 'content of another namespace',
    spec: ofMetadata(label.map((namespace) => ({ namespace: `x-${namespace}` }))),
    end: invalid(/content\.metadata\.namespace does not match/),
  },
  {
    name: 'content with a uid',
    spec: ofMetadata(fc.uuid().map((uid) => ({ uid }))),
    end: invalid(/content\.metadata\.uid cannot be set by a Create/),
  },
  {
    name: 'content with a resourceVersion',
    spec: ofMetadata(
      fc.nat().map((version) => ({ resourceVersion: String(version) })),
      'Patch',
    ),
    end: invalid(/content\.metadata\.resourceVersion cannot be set by a Patch/),
  },
  {
    name: 'content with managedFields',
    spec: ofMetadata(label.map((manager) => ({ managedFields: [{ manager, operation: 'Update' }] }))),
    end: invalid(/content\.metadata\.managedFields cannot be set/),
  },
  {
    name: 'content with a status that the kind has not',
    spec: ofContent(label.map((phase) => ({ ...goodContent, status: { phase } }))),
    end: ['BadRequest', /was refused by a dry run: .*unknown field "status"/],
  },
  {
    name: 'content that is no object',
    spec: ofContent(fc.oneof(anyText, fc.integer(), fc.boolean(), fc.array(anyText), some<Json>([], [goodContent]))),
    end: invalid(/content must be an object/),
  },
  {
    name: 'content that is null or missing',
    spec: some<Json | undefined>(null, undefined).map((content) => specWith([changeWith({ content })])),
    admission: 'spec.changes[0].content: Required value',
    end: invalid(/content must be an object/),
  },
  {
    name: 'metadata that is no object',
    spec: ofContent(fc.oneof(anyText, fc.integer(), fc.array(anyText)).map((metadata) => ({ ...goodContent, metadata }))),
    end: invalid(/content\.metadata must be an object/),
  },
  {
    name: 'integers at the limits of 64 bits',
    spec: some('9223372036854775807', '-9223372036854775808', '9007199254740993', '9223372036854775806').map((digits) =>
      specWith([changeWith({ content: { data: { number: JSON.rawJSON(digits) } } })]),
    ),
    end: ['BadRequest', /was refused by a dry run/],
  },
  {
    name: 'keys that are special to JavaScript',
    spec: ofContent(fc.tuple(specialKey, label).map(([key, text]) => ({ ...goodContent, ...own(key, { x: text }) }))),
    end: ['BadRequest', /was refused by a dry run: .*unknown field/],
  },
  {
    name: 'nested deeper than the engine works with',
    spec: ofContent(fc.integer({ min: 500, max: 3_000 }).map(nested)),
    end: invalid(/content is nested deeper than \d+ levels/),
    most: 20,
  },
  {
    name: 'nested deeper than anything can be sent',
    spec: ofContent(fc.integer({ min: 10_000, max: 20_000 }).map(nested)),
    admission: 'not sent',
    end: invalid(/content is nested deeper than \d+ levels/),
    most: 10,
  },
  {
    name: 'content of more than 3 MiB',
    spec: ofContent(some({ data: { long: 'x'.repeat(3 * 1024 * 1024 + 1) } })),
    admission: 'limit is 3145728',
    most: 2,
  },
  {
    name: 'content of a million keys',
    spec: ofContent(fc.constant(null).map(millionKeys)),
    admission: 'limit is 3145728',
    most: 1,
  },
];

function own(key: string, value: Json): JsonObject {
  return Object.fromEntries([[key, value]]);
}

function nested(levels: number): Json {
  return JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`) as Json;
}

function millionKeys(): Json {
  return { data: Object.fromEntries(Array.from({ length: 1_000_000 }, (_, index) => [`k${index}`, ''])) };
}
