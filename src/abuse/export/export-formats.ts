import type { Entry, Format, ListFacts } from './entry.ts'
import { HOUR_MS, HOUR_SECONDS } from '../../time.ts'
import { APPLIANCE_FORMATS } from './appliances.ts'
import { comment, hourOf, isIPv6, jsonItems, LIFETIME_HOURS, lines, pieces } from './list-lines.ts'

/** ipset cannot swap sets that were created with different sizes, so these never change. */
const IPSET_OPTIONS = `hashsize 16384 maxelem 4194304 timeout ${LIFETIME_HOURS * HOUR_SECONDS}`

const LONGEST_LISTING_MS = 7 * 24 * HOUR_MS

const byFamily = (entries: Entry[]) => [
  { family: 4 as const, those: entries.filter((entry) => !isIPv6(entry)) },
  { family: 6 as const, those: entries.filter(isIPv6) },
]

/**
 * Formats whose files are made with each version. To add one, copy `nginx`, or `haproxy` of
 * `appliances.ts` for one that few ask for.
 */
const STORED_FORMATS = {
  plain: {
    contentType: 'text/plain; charset=utf-8',
    render: (_list, entries) => lines(entries, ({ address }) => address),
  },
  json: {
    contentType: 'application/json; charset=utf-8',
    *render({ version, generatedAt }, entries) {
      const facts = { generatedAt: generatedAt.toISOString(), version, count: entries.length }
      yield `{"success":true,"data":${JSON.stringify(facts).slice(0, -1)},"ips":[`
      yield* jsonItems(entries, jsonOf)
      yield ']}}\n'
    },
  },
  csv: {
    contentType: 'text/csv; charset=utf-8; header=present',
    *render(_list, entries) {
      yield 'ip,family,score,confidence,services,networks,first,last,expires\n'
      yield* lines(entries, csvOf)
    },
  },
  nftables: {
    contentType: 'text/plain; charset=utf-8',
    *render(list, entries) {
      const name = nftNameOf(list)
      yield `${comment(list, 'Load with: nft -f FILE. It fills two sets and blocks nothing by itself. Add rules to a chain in the')}# same table does: ip saddr @${name}4 drop; ip6 saddr @${name}6 drop\n`
      for (const { family } of byFamily(entries)) yield nftSet(name, family)
      for (const { family, those } of byFamily(entries)) {
        yield `flush set inet portreeve ${name}${family}\n`
        for (const piece of pieces(those)) {
          yield `add element inet portreeve ${name}${family} { ${piece.map(({ address }) => address).join(', ')} }\n`
        }
      }
    },
  },
  ipset: {
    contentType: 'text/plain; charset=utf-8',
    *render({ name = 'portreeve' }, entries) {
      for (const { family, those } of byFamily(entries)) {
        const [set, fresh] = [`${name}${family}`, `${name}${family}-new`]
        const options = `hash:net family ${family === 4 ? 'inet' : 'inet6'} ${IPSET_OPTIONS} -exist`
        yield `create ${set} ${options}\ncreate ${fresh} ${options}\nflush ${fresh}\n`
        yield* lines(those, ({ address }) => `add ${fresh} ${address} -exist`)
        yield `swap ${set} ${fresh}\ndestroy ${fresh}\n`
      }
    },
  },
  nginx: {
    contentType: 'text/plain; charset=utf-8',
    *render(list, entries) {
      yield comment(
        list,
        `Include it in http {}; then, in a server {}: if ($${variableOf(list)}) { return 403; }`,
      )
      yield `geo $${variableOf(list)} {\n  default 0;\n`
      yield* lines(entries, ({ address }) => `  ${address} 1;`)
      yield '}\n'
    },
  },
  rbldnsd: {
    contentType: 'text/plain; charset=utf-8',
    *render(list, entries) {
      const value = `:127.0.0.2:Listed for attacks, see ${list.pageUrl}?ip=$\n`
      yield comment(list, 'A file of type combined: rbldnsd … your.zone:combined:FILE')
      const [ipv4, ipv6] = byFamily(entries)
      yield `$DATASET ip4set ipv4 @\n$TTL 300\n${value}127.0.0.2\n`
      yield* lines(ipv4?.those ?? [], ({ address }) => address)
      yield `$DATASET ip6trie ipv6 @\n$TTL 300\n${value}::ffff:7f00:2\n`
      yield* lines(ipv6?.those ?? [], ({ address }) => address)
    },
  },
} as const satisfies Record<string, Format>

export const FORMATS = { ...STORED_FORMATS, ...APPLIANCE_FORMATS }

/** Rendered and stored with each version; the others on request. */
export const STORED_FORMAT_NAMES = Object.keys(STORED_FORMATS) as FormatName[]

export type FormatName = keyof typeof FORMATS
export const FORMAT_NAMES = Object.keys(FORMATS) as FormatName[]

const variableOf = ({ name = 'portreeve' }: ListFacts) => `${name}_listed`

function jsonOf({ address, score, confidence, services, lastReportedAt }: Entry) {
  return {
    ip: address,
    score,
    confidenceLevel: confidence,
    services,
    lastReportedAt: hourOf(lastReportedAt),
  }
}

function csvOf(entry: Entry): string {
  const { address, score, confidence, services, networks, firstReportedAt, lastReportedAt } = entry
  const expires = new Date(lastReportedAt.getTime() + LONGEST_LISTING_MS + HOUR_MS)
  const dates = [firstReportedAt, lastReportedAt, expires].map(hourOf)
  return [
    address,
    isIPv6(entry) ? 6 : 4,
    score,
    confidence,
    services.join(' '),
    networks,
    ...dates,
  ].join(',')
}

/** The sets of both lists are in one table, where an owner’s chain can use them. */
const nftNameOf = ({ name }: ListFacts) => (name === 'portreeve_fleet' ? 'fleet' : 'listed')

function nftSet(name: string, family: 4 | 6): string {
  const type = family === 4 ? 'ipv4_addr' : 'ipv6_addr'
  return `table inet portreeve {
  set ${name}${family} {
    type ${type}
    flags interval, timeout
    timeout ${LIFETIME_HOURS}h
    auto-merge
  }
}
`
}
