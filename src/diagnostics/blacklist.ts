import { Type } from 'typebox'
import { invalidField } from '../errors.ts'
import { classify, parseAddress } from '../net/address.ts'
import { adviceOnServers, adviceOnSweep } from '../protocols/dnsbl/dnsbl-advice.ts'
import type { Blocklist } from '../protocols/dnsbl/blocklist-catalogue.ts'
import type { ZoneHealth } from '../protocols/dnsbl/zone-health.ts'
import type { Blocklists, Listing } from '../protocols/dnsbl/blocklists.ts'
import { sweepAddress } from '../protocols/dnsbl/sweep-address.ts'
import { defineCheck } from './check.ts'
import { BlacklistResult, type BlacklistItem } from './shapes.ts'

export const blacklistCheck = defineCheck({
  name: 'blacklist',
  path: '/api/v1/blacklist-check',
  summary: 'Check an IPv4 address on DNS blocklists',
  description:
    'Queries all enabled blocklists at once. A list has the status `unknown`, never `listed` or `clean`, when it refuses, does not answer, lists every address or answers outside 127.0.0.0/8.',
  query: Type.Object({
    ip: Type.String({ maxLength: 100, description: 'A public IPv4 address.' }),
  }),
  data: BlacklistResult,
  example: {
    query: { ip: '8.8.4.4' },
    data: {
      ip: '8.8.4.4',
      totalChecked: 89,
      listedCount: 1,
      cleanCount: 87,
      unknownCount: 1,
      blacklists: [
        {
          name: 'SpamCop',
          dnsbl: 'bl.spamcop.net',
          listed: true,
          category: 'critical',
          status: 'listed',
          codes: ['127.0.0.2'],
          meanings: [],
          reason: 'Blocked - see https://www.spamcop.net/bl.shtml?8.8.4.4',
          detail: null,
          delistUrl: 'https://www.spamcop.net/bl.shtml',
          health: 'healthy',
          ttl: 2100,
        },
      ],
      checkedAt: '2026-11-21T12:00:00.000Z',
      durationMs: 412,
      warnings: [],
    },
  },
  run: ({ ip }, { blocklists }, signal) => checkAddress(ip, blocklists, signal),
})

/**
 * Asks all lists about one address.
 * @param onItem called for each list as soon as it is settled, in the order of the answers
 * @throws Fault `invalid_request` when `ip` is not a public IPv4 address
 */
export async function checkAddress(
  ip: string,
  blocklists: Blocklists,
  signal: AbortSignal,
  onItem?: (item: BlacklistItem) => void,
): Promise<BlacklistResult> {
  const address = publicIPv4(ip)
  const started = performance.now()
  const onListing = onItem && ((listing: Listing) => onItem(toBlacklistItem(listing, address)))
  const listings = await sweepAddress(address, blocklists, signal, { onListing })
  const items = listings.map((listing) => toBlacklistItem(listing, address))
  return {
    ...countItems(address, items),
    checkedAt: new Date(
      Math.min(Date.now(), ...listings.map((listing) => listing.checkedAt)),
    ).toISOString(),
    durationMs: Math.round(performance.now() - started),
    warnings: adviceOnSweep(listings, blocklists.resolver.servers),
  }
}

/** Summarizes the answers so far, or all of them. */
export function countItems(ip: string, blacklists: BlacklistItem[]) {
  const count = (status: Listing['status']) =>
    blacklists.filter((item) => item.status === status).length
  return {
    ip,
    totalChecked: blacklists.length,
    listedCount: count('listed'),
    cleanCount: count('clean'),
    unknownCount: count('unknown'),
    blacklists,
  }
}

/** @throws Fault `invalid_request` with the problem */
export function publicIPv4(text: string): string {
  const parsed = parseAddress(text.trim())
  const message = publicIPv4Problem(parsed)
  if (parsed === null || message !== null) {
    throw invalidField('ip', String(message), `“${text.slice(0, 80)}”`)
  }
  return parsed.address
}

function publicIPv4Problem(parsed: ReturnType<typeof parseAddress>): string | null {
  if (parsed?.family !== 4) return 'is not an IPv4 address'
  const reach = classify(parsed.address)
  return reach.public ? null : `is ${reach.why}; blocklists have only public addresses`
}

function toBlacklistItem(listing: Listing, ip: string): BlacklistItem {
  const { list, status, codes, meanings, reason, detail, health } = listing
  const page = list.delisting.url ?? list.lookupUrl
  return {
    name: list.name,
    dnsbl: list.zone,
    listed: status === 'listed',
    category: list.category,
    status,
    codes,
    meanings,
    reason,
    detail,
    delistUrl: page?.replace('{ip}', ip) ?? null,
    health,
    ttl: Math.max(0, Math.round((listing.expiresAt - Date.now()) / 1000)),
  }
}

export type ResolverHealth = {
  /** Returns critical blocklists with the result of their test entries through this resolver. */
  lists: { list: Blocklist; health: ZoneHealth }[]
  /** Describes problems of the resolver and their fix; empty when there is none. */
  warnings: string[]
}

/** Tests the resolver of blocklist queries with the critical lists: does it return true answers? */
export async function checkResolverHealth({
  lists,
  health,
  resolver,
}: Blocklists): Promise<ResolverHealth> {
  const critical = lists.filter((list) => list.category === 'critical')
  await health.refresh(critical)
  const tested = await Promise.all(
    critical.map(async (list) => ({ list, health: await health.healthOf(list) })),
  )
  const failed = tested.filter(({ health: { state } }) => state !== 'healthy')
  return {
    lists: tested,
    warnings: [...adviceOnServers(resolver.servers), ...failed.map(failureSentence)],
  }
}

function failureSentence({ list, health }: ResolverHealth['lists'][number]): string {
  return `${list.name} (${list.zone}): ${health.detail ?? health.state} ${ADVICE_BY_ACCESS[list.access]}`
}

const ADVICE_BY_ACCESS: Record<Blocklist['access'], string> = {
  open: 'Check that DNSBL_SERVERS is a recursive resolver that reaches the Internet.',
  'own-resolver': 'It answers only private recursive resolvers. Set DNSBL_SERVERS to your own.',
  'register-resolver-ip': 'Register the public address of your resolver with its operator.',
  key: 'Check its key in DNSBL_KEYS.',
}
