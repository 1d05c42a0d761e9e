// The keys of objects: equal in stories, among the objects that are read, and in the audit log.
import { type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { groupOf, type Reference } from '../../hooks/objects/reference.ts';

export interface Place {
  readonly key: string;
  readonly path: string;
  /** The path of its collection. */
  readonly collection: string;
  readonly name: string;
  readonly kind: string;
  readonly reference: Reference;
}

const clusterScoped = [
  'Namespace',
  'ClusterRole',
  'ClusterRoleBinding',
  'CustomResourceDefinition',
  'PersistentVolume',
  'StorageClass',
];

/** The place of a target, or of an object by its type and metadata; `home` is the default namespace. */
export function placeOf(object: JsonObject, home: string): Place {
  const [apiVersion = 'v1', kind = ''] = [textAt(object, 'apiVersion'), textAt(object, 'kind')];
  const name = textAt(object, 'name') ?? textAt(object, 'metadata', 'name') ?? '';
  const given = textAt(object, 'namespace') ?? textAt(object, 'metadata', 'namespace') ?? home;
  const namespace = clusterScoped.includes(kind) ? undefined : given;
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const collection = `${root}${namespace === undefined ? '' : `/namespaces/${namespace}`}/${pluralOf(kind)}`;
  return {
    key: keyOf({ group: groupOf(apiVersion), resource: pluralOf(kind), namespace, name }),
    path: `${collection}/${encodeURIComponent(name)}`,
    collection,
    name,
    kind,
    reference: { apiVersion, kind, name, ...(namespace !== undefined && { namespace }) },
  };
}

interface Keyed {
  readonly group: string | undefined;
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly name: string;
}

export function keyOf({ group = '', resource, namespace = '', name }: Keyed): string {
  return `${resource}${group === '' ? '' : `.${group}`} ${namespace}/${name}`;
}

/** The English plural; all kinds of the stories have it. */
function pluralOf(kind: string): string {
  const word = kind.toLowerCase();
  if (word.endsWith('s')) return `${word}es`;
  return word.endsWith('y') ? `${word.slice(0, -1)}ies` : `${word}s`;
}

export function configMapPlace(namespace: string, name: string): Place {
  return placeOf({ apiVersion: 'v1', kind: 'ConfigMap', name }, namespace);
}
