// The hosts that a registry may lead to: redirects and challenges name hosts, and a host name may resolve to an internal address.
import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { invalid, unavailable } from './trouble.ts';

/** Never allowed: among them the metadata services of clouds. */
const never = blockList(['169.254.0.0/16', '0.0.0.0/8', 'fe80::/10', '::/128', 'fd00:ec2::/32']);
/** Allowed only if the registry itself has one of these addresses. */
const inside = blockList([
  '127.0.0.0/8',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10',
  '::1/128',
  'fc00::/7',
]);

function blockList(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', bits = ''] = range.split('/');
    list.addSubnet(address, Number(bits), address.includes(':') ? 'ipv6' : 'ipv4');
  }
  return list;
}

function isAmong(list: BlockList, address: string): boolean {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
  return list.check(mapped, isIP(mapped) === 6 ? 'ipv6' : 'ipv4');
}

/** The addresses of a host name, or of an address written literally. */
export async function addressesOf(hostname: string): Promise<readonly string[]> {
  const plain = hostname.replace(/^\[|\]$/g, '');
  if (isIP(plain) !== 0) return [plain];
  try {
    return (await lookup(plain, { all: true })).map(({ address }) => address);
  } catch {
    throw unavailable(`the host ${hostname} is not known`);
  }
}

/**
 * The address to connect to when a registry led to that host. Throws a Trouble if the address is internal and the registry's is
 * not: the operator of a registry must not make us reach hosts that the operator cannot reach.
 */
export function admittedAddress(hostname: string, addresses: readonly string[], ofRegistry: readonly string[]): string {
  const isInside = ofRegistry.some((address) => isAmong(inside, address));
  const refused = addresses.find((address) => isAmong(never, address) || (!isInside && isAmong(inside, address)));
  const [first] = addresses;
  if (refused !== undefined || first === undefined) throw invalid(`the registry leads to the internal address of ${hostname}`);
  return first;
}

/** Plain HTTP is allowed for registries on this machine, and for names that exist in no other network. */
export function schemeOf(registry: string): 'http' | 'https' {
  const host = registry.replace(/:[0-9]+$/, '');
  return ['localhost', '127.0.0.1', '[::1]'].includes(host) || host.endsWith('.local') ? 'http' : 'https';
}
