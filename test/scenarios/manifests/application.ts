// Thirty manifests of one application, in two versions: the second one drops a label, a key, an environment variable and a port.
import { type JsonObject, withPath } from '../../../hooks/objects/json.ts';
import { must } from '../../support/client.ts';
import type { Stage } from '../../support/stage.ts';

type Version = 1 | 2;

interface Sort {
  readonly apiVersion: string;
  readonly kind: string;
  readonly collection: string;
  readonly names: readonly string[];
  readonly content: (name: string, version: Version) => JsonObject;
}

const numbered = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

/** A member that only the first version has. */
const once = (version: Version, member: JsonObject): JsonObject => (version === 1 ? member : {});

const sorts: readonly Sort[] = [
  {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    collection: 'serviceaccounts',
    names: numbered('app', 3),
    content: () => ({ automountServiceAccountToken: false }),
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    collection: 'rbac.authorization.k8s.io/v1/roles',
    names: numbered('app', 3),
    content: (_, version) => ({
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: version === 1 ? ['get', 'list'] : ['get'] }],
    }),
  },
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    collection: 'configmaps',
    names: numbered('app', 10),
    content: (name, version) => ({ data: { name, version: String(version), ...once(version, { legacy: 'yes' }) } }),
  },
  {
    apiVersion: 'v1',
    kind: 'Secret',
    collection: 'secrets',
    names: numbered('app', 4),
    content: (name, version) => ({ stringData: { name, version: String(version) } }),
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    collection: 'services',
    names: numbered('app', 5),
    content: (name, version) => ({
      spec: {
        selector: { app: name },
        ports: [
          { name: 'http', port: 80, targetPort: 8080 },
          ...(version === 1 ? [{ name: 'metrics', port: 9090, targetPort: 9090 }] : []),
        ],
      },
    }),
  },
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    collection: 'apps/v1/deployments',
    names: numbered('app', 5),
    content: (name, version) => ({
      status: {},
      spec: {
        replicas: 1,
        selector: { matchLabels: { app: name } },
        template: {
          metadata: { creationTimestamp: null, labels: { app: name } },
          spec: {
            containers: [
              {
                name: 'app',
                image: `registry.example/app:${version}`,
                resources: { requests: { cpu: 0.5, memory: '1024Mi' } },
                env: [{ name: 'MODE', value: 'fast' }, ...(version === 1 ? [{ name: 'DEBUG', value: '1' }] : [])],
              },
            ],
          },
        },
      },
    }),
  },
];

function objectOf({ apiVersion, kind, content }: Sort, name: string, version: Version): JsonObject {
  const labels = { app: name, ...once(version, { tier: 'first' }) };
  return { apiVersion, kind, metadata: { creationTimestamp: null, name, labels }, ...content(name, version) };
}

function manifests(version: Version): readonly JsonObject[] {
  return sorts.flatMap((sort) => sort.names.map((name) => objectOf(sort, name, version)));
}

/** Each manifest as an Apply. */
export function applied(version: Version, more: JsonObject = {}): readonly JsonObject[] {
  return manifests(version).map((content) => ({ type: 'Apply', content, ...more }));
}

/** The first version as an Apply of each manifest in a Namespace that the first Apply creates. */
export function installed(namespace: string): readonly JsonObject[] {
  const within = manifests(1).map((one) => withPath(one, ['metadata', 'namespace'], namespace));
  return [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }, ...within].map((content) => ({
    type: 'Apply',
    content,
  }));
}

/** Where the objects are. */
export function paths(stage: Pick<Stage, 'path'>): readonly string[] {
  return sorts.flatMap(({ collection, names }) => names.map((name) => stage.path(`${collection}/${name}`)));
}

/** The same objects, made by somebody else who owns their fields. */
export async function fill(stage: Stage): Promise<void> {
  for (const { apiVersion, kind, collection, names, content } of sorts)
    for (const name of names) {
      const { status: _generated, ...rest } = content(name, 1);
      const object = {
        apiVersion,
        kind,
        metadata: { name, labels: { app: name, team: 'a' }, annotations: { by: 'hand' } },
        ...rest,
      };
      must(await stage.client.create(stage.path(collection), object, { fieldManager: 'kubectl' }));
    }
}
