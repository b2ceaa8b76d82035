import type { HostPort } from '../../setting-values.ts'
import type { Listing } from './blocklists.ts'

/** Public resolvers, which many blocklists therefore reject. */
const PUBLIC_RESOLVERS: Record<string, readonly string[]> = {
  Cloudflare: [
    '1.1.1.1',
    '1.0.0.1',
    '1.1.1.2',
    '1.0.0.2',
    '1.1.1.3',
    '1.0.0.3',
    '2606:4700:4700::1111',
    '2606:4700:4700::1001',
  ],
  Google: ['8.8.8.8', '8.8.4.4', '2001:4860:4860::8888', '2001:4860:4860::8844'],
  Quad9: [
    '9.9.9.9',
    '9.9.9.10',
    '9.9.9.11',
    '149.112.112.112',
    '149.112.112.10',
    '149.112.112.11',
    '2620:fe::fe',
    '2620:fe::9',
  ],
  OpenDNS: [
    '208.67.222.222',
    '208.67.220.220',
    '208.67.222.123',
    '208.67.220.123',
    '2620:119:35::35',
    '2620:119:53::53',
  ],
  AdGuard: ['94.140.14.14', '94.140.15.15', '94.140.14.140', '94.140.14.141'],
  'Level 3': ['4.2.2.1', '4.2.2.2', '4.2.2.3', '4.2.2.4', '4.2.2.5', '4.2.2.6'],
  CleanBrowsing: ['185.228.168.9', '185.228.169.9', '185.228.168.168', '185.228.169.168'],
  'Control D': ['76.76.2.0', '76.76.10.0'],
  Yandex: ['77.88.8.8', '77.88.8.1'],
  Verisign: ['64.6.64.6', '64.6.65.6'],
}

/** Whose public resolver this address is, or null. */
function publicResolver(address: string): string | null {
  const found = Object.entries(PUBLIC_RESOLVERS).find(([, addresses]) =>
    addresses.includes(address),
  )
  return found?.[0] ?? null
}

/** A sentence for each public resolver among these, with the fix. */
export function adviceOnServers(servers: readonly HostPort[]): string[] {
  return servers.flatMap(({ address }) => {
    const owner = publicResolver(address)
    if (owner === null) return []
    return [
      `Blocklist queries go through ${address} (${owner}), which many lists refuse. ${OWN_RESOLVER}`,
    ]
  })
}

const OWN_RESOLVER = 'Set DNSBL_SERVERS to a recursive resolver of your own, such as Unbound.'

/** Sentences about the reliability of a sweep, with their fixes. */
export function adviceOnSweep(
  listings: readonly Listing[],
  servers: readonly HostPort[],
): string[] {
  const unknown = listings.filter((listing) => listing.status === 'unknown')
  const advice = adviceOnServers(servers)
  if (unknown.length > listings.length / 2)
    return [...advice, massAdvice(unknown.length, listings.length, servers)]
  const refusing = unknown.filter((listing) => listing.health === 'refusing')
  if (refusing.length > 0)
    advice.push(
      `${namesOf(refusing)} refused this resolver: what they list is not known. ${OWN_RESOLVER}`,
    )
  const grave = listings.filter(isGrave)
  const open = grave.filter(({ status, health }) => status === 'unknown' && health !== 'refusing')
  if (open.length > 0) {
    advice.push(
      `${open.length} of ${grave.length} critical and major lists could not be checked: ${namesOf(open)}. That is not the same as “not listed”.`,
    )
  }
  return advice
}

function massAdvice(unknown: number, all: number, servers: readonly HostPort[]): string {
  const asked = servers
    .map(({ address, port }) => (port === 53 ? address : `${address} port ${port}`))
    .join(', ')
  return `${unknown} of ${all} lists gave no usable answer. The resolver (${asked}) is probably the cause. ${OWN_RESOLVER}`
}

function isGrave({ list }: Listing): boolean {
  return list.category === 'critical' || list.category === 'major'
}

const MAX_NAMES_SHOWN = 4

function namesOf(listings: readonly Listing[]): string {
  const names = listings.map((listing) => listing.list.name)
  const rest = names.length - MAX_NAMES_SHOWN
  return rest > 0
    ? `${names.slice(0, MAX_NAMES_SHOWN).join(', ')} and ${rest} more`
    : names.join(', ')
}
