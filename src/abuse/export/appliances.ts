import type { Entry, Format, ListFacts } from './entry.ts'
import { comment, isIPv6, jsonItems, LIFETIME_HOURS, lines } from './list-lines.ts'

/** Cloudflare’s lists have a limit of items per account. */
const MAX_CLOUDFLARE_ITEMS = 10_000

const PLAIN = 'text/plain; charset=utf-8'

/** Formats for firewalls, web servers and services, which few ask for: rendered on request. */
export const APPLIANCE_FORMATS = {
  mikrotik: {
    contentType: PLAIN,
    *render(list, entries) {
      yield comment(
        list,
        `RouterOS: /import FILE. Drop packets from the address list ${nameOf(list)}.`,
      )
      for (const [menu, those] of [
        ['/ip', entries.filter((entry) => !isIPv6(entry))],
        ['/ipv6', entries.filter(isIPv6)],
      ] as const) {
        const table = `${menu} firewall address-list`
        yield `${table} remove [find list=${nameOf(list)}]\n${table}\n`
        // An entry that a rule of the router added meanwhile would end the import.
        yield* lines(
          those,
          (entry) =>
            `:do {add list=${nameOf(list)} address=${entry.address} timeout=${timeoutOf(entry, list)}} on-error={}`,
        )
      }
    },
  },
  haproxy: {
    contentType: PLAIN,
    *render(list, entries) {
      yield comment(list, 'A map: http-request deny if { src,map_ip(FILE) -m found }')
      yield* lines(entries, ({ address, services }) => `${address} ${services[0] ?? 'listed'}`)
    },
  },
  'nginx-deny': {
    contentType: PLAIN,
    *render(list, entries) {
      yield comment(list, 'Include it in http {}, a server {} or a location {}.')
      yield* lines(entries, ({ address }) => `deny ${address};`)
    },
  },
  cloudflare: {
    contentType: 'application/json; charset=utf-8',
    *render(_list, entries) {
      yield '['
      yield* jsonItems(worst(entries), ({ address, services }) => ({
        ip: address,
        comment: services.join(' '),
      }))
      yield ']\n'
    },
  },
  'cloudflare-csv': {
    contentType: 'text/csv; charset=utf-8; header=absent',
    render: (_list, entries) =>
      lines(worst(entries), ({ address, services }) => `${address},${services.join(' ')}`),
  },
} as const satisfies Record<string, Format>

const nameOf = ({ name = 'portreeve' }: ListFacts) => name

/** An entry ends by itself when the router gets no new list. */
function timeoutOf({ expiresAt }: Entry, { generatedAt }: ListFacts): string {
  const most = LIFETIME_HOURS * 3_600
  const seconds = expiresAt ? Math.ceil((expiresAt.getTime() - generatedAt.getTime()) / 1000) : most
  const left = Math.min(most, Math.max(60, seconds))
  const two = (n: number) => String(Math.floor(n)).padStart(2, '0')
  return `${two(left / 3_600)}:${two((left / 60) % 60)}:${two(left % 60)}`
}

function worst(entries: Entry[]): Entry[] {
  if (entries.length <= MAX_CLOUDFLARE_ITEMS) return entries
  return entries.toSorted((a, b) => b.score - a.score).slice(0, MAX_CLOUDFLARE_ITEMS)
}
