// Checks the addresses of hosts that the user did not name. Redirects, challenges and dependencies name such hosts, and a host name may
// resolve to an internal address.
import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { orLate } from './late.ts';
import { invalid, unavailable } from './trouble.ts';

/** Never allowed. The metadata services of clouds are among them. */
const never = blockList([
  ...['169.254.0.0/16', '0.0.0.0/8', '192.0.0.0/24', '168.63.129.16/32', '100.100.100.200/32', '224.0.0.0/4', '240.0.0.0/4'],
  ...['fe80::/10', '::/128', 'fd00:ec2::/32', 'fd20:ce::/32', '64:ff9b:1::/48', '2001::/32', 'ff00::/8'],
]);
/** This machine: allowed only if the registry is on this machine, too. */
const own = blockList(['127.0.0.0/8', '::1/128']);
/** Allowed only if all addresses of the registry are such addresses, or addresses of this machine. */
const inside = blockList([
  ...['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', '198.18.0.0/15'],
  ...['fc00::/7', 'fec0::/10'],
]);

/** IPv6 forms of an IPv4 address: at the end (for example NAT64, which IPv6-only clusters use), or after two bytes (6to4). */
const atEnd = blockList(['::/96', '::ffff:0:0/96', '::ffff:0:0:0/96', '64:ff9b::/96']);
const afterTwo = blockList(['2002::/16']);

function blockList(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', bits = ''] = range.split('/');
    list.addSubnet(address, Number(bits), address.includes(':') ? 'ipv6' : 'ipv4');
  }
  return list;
}

function isAmong(list: BlockList, address: string): boolean {
  const plain = embeddedIn(address) ?? address;
  return list.check(plain, isIP(plain) === 6 ? 'ipv6' : 'ipv4');
}

/** The IPv4 address in an IPv6 address. */
function embeddedIn(address: string): string | undefined {
  if (isIP(address) !== 6 || ['::', '::1'].includes(address)) return undefined;
  const groups = groupsOf(address);
  if (atEnd.check(address, 'ipv6')) return dotted(groups.slice(6));
  return afterTwo.check(address, 'ipv6') ? dotted(groups.slice(1, 3)) : undefined;
}

function dotted(groups: readonly number[]): string {
  return groups.flatMap((group) => [group >> 8, group & 255]).join('.');
}

/** The eight groups of an IPv6 address. */
function groupsOf(address: string): readonly number[] {
  // The parser of URLs gives each address one form, without dots and zones.
  const plain = new URL(`http://[${address.replace(/%.*$/, '')}]`).hostname.slice(1, -1);
  const [head = [], tail = []] = plain.split('::').map((half) => half.split(':').filter((group) => group !== ''));
  const all = [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail];
  return all.map((group) => Number.parseInt(group, 16));
}

/** The addresses of a host name, or of an address written literally. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

/** Looks each name up once, also an unknown name. If the signal is aborted, it does not wait: a look-up cannot be ended. */
export function createResolver(signal: AbortSignal, find: typeof found = found): Resolve {
  const known = new Map<string, Promise<readonly string[]>>();
  return (hostname) => {
    const plain = hostname.replace(/^\[|\]$/g, '');
    if (isIP(plain) !== 0) return Promise.resolve([plain]);
    const late = (): Error => unavailable(`the host ${hostname} was not looked up in time`);
    if (signal.aborted) return Promise.reject(late());
    const addresses = known.get(plain) ?? find(plain);
    known.set(plain, addresses);
    return orLate(addresses, signal, late);
  };
}

async function found(name: string): Promise<readonly string[]> {
  try {
    return (await lookup(name, { all: true })).map(({ address }) => address);
  } catch {
    throw unavailable(`the host ${name} is not known`);
  }
}

/**
 * The address to connect to. `named`: the addresses of the registry that the user named. Throws a Trouble if an address is internal, and
 * `named` are not. The operator of a registry, or the author of a package, must not make the hook reach hosts that they cannot reach.
 */
export function admittedAddress(hostname: string, addresses: readonly string[], named: readonly string[]): string {
  const isOwn = isAllOf(named, (address) => isAmong(own, address));
  const isInside = isAllOf(named, (address) => isAmong(own, address) || isAmong(inside, address));
  const isRefused = (address: string): boolean =>
    isAmong(never, address) || (!isOwn && isAmong(own, address)) || (!isInside && isAmong(inside, address));
  const [first] = addresses;
  if (first === undefined || addresses.some(isRefused))
    throw invalid(`the registry, or what a package requires, leads to the internal address of ${hostname}`);
  return first;
}

function isAllOf(addresses: readonly string[], is: (address: string) => boolean): boolean {
  return addresses.length > 0 && addresses.every(is);
}

/** The hook uses plain HTTP only for registries on this machine, and for registries that the administrator has listed. */
export function schemeOf(registry: string, listed: readonly string[] = []): 'http' | 'https' {
  const host = registry.replace(/:[0-9]+$/, '');
  return ['localhost', '127.0.0.1', '[::1]'].includes(host) || listed.includes(registry) ? 'http' : 'https';
}
