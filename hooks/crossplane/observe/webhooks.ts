// Who serves the webhooks of packages: Crossplane, or the servers whose authority a Secret holds.
import { textAt } from '../../objects/json.ts';
import { type WebhookFaults, withoutServers } from '../checks/contents.ts';
import { quoted } from '../model/package.ts';
import { secrets } from '../writes/resources.ts';
import type { WebhookService } from '../writes/webhooks.ts';
import { find, type PackageReader } from './read.ts';

export interface Webhooks {
  readonly servers?: WebhookService;
  readonly webhookFaults: WebhookFaults;
}

interface Setting {
  /** The namespace in which Crossplane runs packages. */
  readonly crossplaneNamespace?: string | undefined;
  /** The name of a Secret in the namespace of packages. */
  readonly webhookSecret?: string;
}

export async function readWebhooks(reader: PackageReader, { crossplaneNamespace, webhookSecret }: Setting): Promise<Webhooks> {
  if (crossplaneNamespace !== undefined) return { servers: { namespace: crossplaneNamespace }, webhookFaults: {} };
  if (webhookSecret === undefined) return { webhookFaults: withoutServers };
  const { namespace } = reader;
  const secret = await find(reader, { resource: secrets, namespace, name: webhookSecret });
  // A certificate that signs itself is its own authority.
  const authority = textAt(secret, 'data', 'ca.crt') ?? textAt(secret, 'data', 'tls.crt');
  if (authority !== undefined) return { servers: { namespace, authority }, webhookFaults: withoutAdmission };
  const found = secret === undefined ? 'none' : 'one without them';
  const conversion = `JANUS_PACKAGES_WEBHOOK_SECRET expects a Secret ${quoted(webhookSecret)} with ca.crt or tls.crt in namespace ${namespace}, found ${found}`;
  return { webhookFaults: { ...withoutServers, conversion } };
}

const { conversion: _, ...withoutAdmission } = withoutServers;
