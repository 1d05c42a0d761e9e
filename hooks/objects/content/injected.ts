// The CA bundle of a webhook configuration, of the conversion of a CRD, or of an APIService, if the Transaction's change does not
// set it. A program that serves the webhook fills the bundle in, or an injector (cert-manager). The program or the injector fills
// it in again whenever it is lost. So the bundle is content of no manager. The live value stays when the object is restored, and
// goes with the object, or with the webhook, that it belongs to.
import { at, equalJson, isList, isObject, type Json, type JsonObject, textAt, withKey, withPath } from '../json.ts';
import { isWithin, type Manager } from './fields.ts';
import { field, itemElement, type Path, pathOf, pathText } from './path.ts';

/** The object before the Transaction's change and right after it. */
interface Change {
  readonly prior?: Json | undefined;
  readonly expected?: Json | undefined;
}

const member = 'caBundle';

/** The path of the bundle in a kind, as `kindOf` names it; `webhooks` means each item of that list. */
const configs: Readonly<Record<string, readonly string[]>> = {
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration': ['webhooks', 'clientConfig'],
  'admissionregistration.k8s.io/MutatingWebhookConfiguration': ['webhooks', 'clientConfig'],
  'apiextensions.k8s.io/CustomResourceDefinition': ['spec', 'conversion', 'webhook', 'clientConfig'],
  'apiregistration.k8s.io/APIService': ['spec'],
};

type Bundles = ReadonlyMap<string, Json>;

/** The object without the bundles that the Transaction's change does not set. */
export function withoutInjected(object: JsonObject, kind: string, change: Change): JsonObject {
  if (configs[kind] === undefined) return object;
  const ours = oursIn(kind, change);
  return withConfigs(object, kind, (config, key) => (ours.has(key) ? config : withKey(config, member, undefined)));
}

/**
 * A restored object with the bundles that `withoutInjected` left out. A bundle has its live value, or its prior value if the
 * Transaction's change removed it.
 */
export function withInjected(restored: JsonObject, kind: string, change: Change & { readonly live: Json }): JsonObject {
  if (configs[kind] === undefined) return restored;
  const [ours, before, after] = [oursIn(kind, change), bundlesIn(change.prior, kind), bundlesIn(change.expected, kind)];
  const now = bundlesIn(change.live, kind);
  return withConfigs(restored, kind, (config, key) => {
    const value = now.get(key) ?? (after.has(key) ? undefined : before.get(key));
    // The API server accepts no bundle beside it. Source: kube-aggregator, pkg/apis/apiregistration/validation.
    const isRefused = at(config, 'insecureSkipTLSVerify') === true;
    return ours.has(key) || value === undefined || isRefused ? config : withKey(config, member, value);
  });
}

/**
 * Whether the manager owns the path because it fills in a bundle. An apply makes it own the item and the name of the webhook, too.
 */
export function isInjectedBy(owner: Manager, path: Path, kind: string, change: Change): boolean {
  const place = placeOf(path, kind);
  if (place === undefined || oursIn(kind, change).has(place.key)) return false;
  const config = pathText(place.config);
  const own = new Set([pathText([...place.config, field(member)]), config, ...place.identity.map(pathText)]);
  const near =
    place.identity.length === 0 ? [pathText(path)] : [...owner.fields].filter((text) => isWithin(pathOf(text), place.item));
  return (
    own.has(pathText(path)) && near.every((text) => own.has(text)) && owner.fields.has(pathText([...place.config, field(member)]))
  );
}

interface Place {
  readonly key: string;
  readonly item: Path;
  readonly config: Path;
  /** The fields that a manager owns together with the bundle. */
  readonly identity: readonly Path[];
}

function placeOf(path: Path, kind: string): Place | undefined {
  const names = configs[kind];
  if (names === undefined) return undefined;
  if (names[0] !== 'webhooks') return { key: '', item: [], config: names.map(field), identity: [] };
  const [list, element, ...rest] = path;
  if (list !== field('webhooks') || element === undefined || rest.length > 2) return undefined;
  const item = [list, element];
  return { key: element, item, config: [...item, field('clientConfig')], identity: [item, [...item, field('name')]] };
}

function oursIn(kind: string, { prior, expected }: Change): ReadonlySet<string> {
  const before = bundlesIn(prior, kind);
  return new Set([...bundlesIn(expected, kind)].filter(([key, value]) => !equalJson(value, before.get(key))).map(([key]) => key));
}

function bundlesIn(object: Json | undefined, kind: string): Bundles {
  const found = new Map<string, Json>();
  if (!isObject(object)) return found;
  withConfigs(object, kind, (config, key) => {
    const value = at(config, member);
    if (value !== undefined) found.set(key, value);
    return config;
  });
  return found;
}

function withConfigs(object: JsonObject, kind: string, change: (config: JsonObject, key: string) => JsonObject): JsonObject {
  const names = configs[kind] ?? [];
  if (names[0] !== 'webhooks') {
    const config = at(object, ...names);
    return isObject(config) ? withPath(object, names, change(config, '')) : object;
  }
  const hooks = at(object, 'webhooks');
  if (!isList(hooks)) return object;
  return withKey(
    object,
    'webhooks',
    hooks.map((hook) => {
      const config = at(hook, 'clientConfig');
      if (!isObject(hook) || !isObject(config)) return hook;
      return withKey(hook, 'clientConfig', change(config, itemElement(hook, ['name']) ?? textAt(hook, 'name') ?? ''));
    }),
  );
}
