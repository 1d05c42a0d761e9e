// CRDs whose objects a webhook of their package converts: the server that the API server calls, and the authority that it trusts.
import { type JsonObject, objectAt, textAt, withPath } from '../../objects/json.ts';
import { isConverted } from '../checks/contents.ts';

/** Who serves the webhooks of packages. */
export interface WebhookService {
  /** The namespace of the Services of packages. Beside Crossplane, also that of their Secrets. */
  readonly namespace: string;
  /** PEM as base64. Absent beside Crossplane, which gives each package another one. */
  readonly authority?: string;
}

const clientConfig = ['spec', 'conversion', 'webhook', 'clientConfig'];
const webhookPort = 9443;

/** The authority that the API server trusts when it converts objects of that kind. */
export function authorityOf(definition: JsonObject | undefined): string | undefined {
  return textAt(definition, ...clientConfig, 'caBundle');
}

/** The name of the Secret that Crossplane makes for the server of a package. */
export function serverSecret(packageName: string): string {
  return `${packageName}-tls-server`;
}

interface Converted {
  /** The name of the package. */
  readonly name: string;
  readonly object: JsonObject;
  readonly live: JsonObject | undefined;
}

/**
 * The definition with the server of its conversion, as Crossplane's controllers write it: the Service of the package. Crossplane also
 * writes the authority, once it has made the Secret, and writes it again if the Secret changes. So beside Crossplane the definition
 * keeps the authority that it has. It has none before, or if another package has served it.
 */
export function convertedBy({ name, object, live }: Converted, servers: WebhookService | undefined): JsonObject {
  if (!isConverted(object) || servers === undefined) return object;
  const service = { ...objectAt(object, ...clientConfig, 'service'), name, namespace: servers.namespace, port: webhookPort };
  const isServed = textAt(live, ...clientConfig, 'service', 'name') === name;
  const authority = servers.authority ?? (isServed ? authorityOf(live) : undefined);
  return withPath(object, clientConfig, { service, ...(authority === undefined ? {} : { caBundle: authority }) });
}
