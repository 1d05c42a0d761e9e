// Related objects, as the customize hook of version v2 names them: the answer is kept for the generation of the parent; a change of a
// related object enqueues every parent whose rules match it; calls hold them under `Kind.group/version`, by `namespace/name` or `name`.
import { at, isList, isObject, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import type { Api } from './connection.ts';
import { createInformer } from './informer.ts';
import { keyOf } from './parents.ts';

interface Rule {
  readonly apiVersion: string;
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly names: readonly string[] | undefined;
  readonly labels: Readonly<Record<string, string>>;
}

interface Followed {
  readonly kind: string;
  readonly objects: Map<string, JsonObject>;
}

interface Related {
  /** The related objects of a parent. `ask` calls the customize hook. */
  of(parent: JsonObject, ask: () => Promise<JsonObject>): Promise<JsonObject>;
  /** Resolves once nothing is followed; the signal must be aborted. */
  settled(): Promise<void>;
}

interface RelatedOptions {
  readonly api: Api;
  readonly signal: AbortSignal;
  readonly enqueue: (key: string) => void;
}

export function createRelated({ api, signal, enqueue }: RelatedOptions): Related {
  const rules = new Map<string, { readonly version: string; readonly rules: readonly Rule[] }>();
  const followed = new Map<string, Promise<Followed>>();
  const following: Promise<void>[] = [];

  const changed = (resource: string, object: JsonObject): void => {
    for (const [key, { rules: known }] of rules)
      if (known.some((rule) => `${rule.apiVersion} ${rule.resource}` === resource && matches(rule, object))) enqueue(key);
  };

  async function follow(rule: Rule): Promise<Followed> {
    const id = `${rule.apiVersion} ${rule.resource}`;
    const objects = new Map<string, JsonObject>();
    const informer = createInformer({
      api,
      resource: rule,
      signal,
      lagMilliseconds: 0,
      changed(object, gone) {
        if (gone) objects.delete(keyOf(object));
        else objects.set(keyOf(object), object);
        changed(id, object);
      },
    });
    const kind = await kindOf(api, rule);
    await informer.list();
    following.push(informer.follow());
    return { kind, objects };
  }

  async function rulesOf(parent: JsonObject, ask: () => Promise<JsonObject>): Promise<readonly Rule[]> {
    const version = `${textAt(parent, 'metadata', 'uid')}/${String(at(parent, 'metadata', 'generation'))}`;
    const known = rules.get(keyOf(parent));
    if (known?.version === version) return known.rules;
    const listed = at(await ask(), 'relatedResources');
    const read = (isList(listed) ? listed : []).filter(isObject).map(readRule);
    rules.set(keyOf(parent), { version, rules: read });
    return read;
  }

  return {
    async of(parent, ask) {
      const found: Record<string, JsonObject> = {};
      for (const rule of await rulesOf(parent, ask)) {
        const id = `${rule.apiVersion} ${rule.resource}`;
        const known = followed.get(id) ?? follow(rule);
        followed.set(id, known);
        const { kind, objects } = await known;
        const matching = [...objects].filter(([, object]) => matches(rule, object));
        found[`${kind}.${rule.apiVersion}`] = Object.fromEntries(matching);
      }
      return found;
    },
    settled: async () => {
      await Promise.all(following);
    },
  };
}

function readRule(rule: JsonObject): Rule {
  const labels = at(rule, 'labelSelector', 'matchLabels');
  const names = at(rule, 'names');
  return {
    apiVersion: textAt(rule, 'apiVersion') ?? '',
    resource: textAt(rule, 'resource') ?? '',
    namespace: textAt(rule, 'namespace'),
    names: isList(names) ? names.map(String) : undefined,
    labels: isObject(labels) ? (labels as Readonly<Record<string, string>>) : {},
  };
}

function matches({ namespace, names, labels }: Rule, object: JsonObject): boolean {
  const name = textAt(object, 'metadata', 'name') ?? '';
  if (namespace !== undefined && textAt(object, 'metadata', 'namespace') !== namespace) return false;
  if (names !== undefined && !names.includes(name)) return false;
  return Object.entries(labels).every(([key, value]) => textAt(object, 'metadata', 'labels', key) === value);
}

async function kindOf(api: Api, { apiVersion, resource }: Rule): Promise<string> {
  const served = at(await api.call('GET', `/apis/${apiVersion}`), 'resources');
  const found = (isList(served) ? served : []).find((one) => textAt(one, 'name') === resource);
  return textAt(found, 'kind') ?? resource;
}
