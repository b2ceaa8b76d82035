import type { DnsFailure } from '../../net/dns.ts'
import { discoverDmarc } from './dmarc-discovery.ts'
import { parseDmarc, parseReportUri, type DmarcRecord } from './dmarc-record.ts'
import { lookUpMailUse, type MailUse } from '../mail/mail-use.ts'
import { registeredDomain } from './public-suffix.ts'
import type { DnsQueries } from '../dns-queries.ts'
import { listItems, valueOf } from '../tag-list.ts'

/**
 * Where reports are sent, and whether the receiver of reports has agreed (RFC 9990, “Verifying
 * External Destinations”).
 */
export type Destination = {
  tag: 'rua' | 'ruf'
  uri: string
  /** The name where the receiver's consent must stand; null when none is needed. */
  name: string | null
  /** Null if the query failed. */
  authorized: boolean | null
  /** The consent as published. */
  record: string | null
  /**
   * The public suffix list counts both domains as one; reporters that follow RFC 7489 ask for no
   * consent then.
   */
  sameByPublicSuffix: boolean
  error: DnsFailure | null
  /**
   * The host of the address, and whether mail can come there; null for a URI that is no mail
   * address.
   */
  mailbox: { host: string; use: MailUse } | null
}

/** Receivers do not send to all addresses of a record with more. */
const MAX_DESTINATIONS = 10

/** Checks each usable address of a record that was found at `policyDomain`. */
export async function checkDestinations(
  policyDomain: string,
  record: DmarcRecord,
  queries: DnsQueries,
): Promise<Destination[]> {
  const uris = (['rua', 'ruf'] as const).flatMap((tag) =>
    record[tag].map(({ uri, host }) => ({ tag, uri, host })),
  )
  const usable = uris.flatMap(({ tag, uri, host }) => (host === null ? [] : [{ tag, uri, host }]))
  return Promise.all(
    usable.slice(0, MAX_DESTINATIONS).map(async ({ tag, uri, host }) => {
      const isMail = /^mailto:/i.test(uri)
      const [consent, use] = await Promise.all([
        consentOf(host, policyDomain, queries),
        isMail ? lookUpMailUse(host, queries) : null,
      ])
      return { tag, uri, ...consent, mailbox: use && { host, use } }
    }),
  )
}

type Consent = Omit<Destination, 'tag' | 'uri' | 'mailbox'>
const UNNEEDED: Consent = {
  name: null,
  authorized: true,
  record: null,
  sameByPublicSuffix: true,
  error: null,
}

async function consentOf(
  host: string,
  policyDomain: string,
  queries: DnsQueries,
): Promise<Consent> {
  if (host === policyDomain) return UNNEEDED
  const name = `${policyDomain}._report._dmarc.${host}`
  const [own, theirs, consent] = await Promise.all([
    discoverDmarc(policyDomain, queries),
    discoverDmarc(host, queries),
    queries.lookUpTxt(name),
  ])
  if (own.organizationalDomain === theirs.organizationalDomain) return UNNEEDED
  const sameByPublicSuffix =
    registeredDomain(host) !== null && registeredDomain(host) === registeredDomain(policyDomain)
  // Where the walk could not be finished, the list decides.
  if (sameByPublicSuffix && (own.error ?? theirs.error)) return UNNEEDED
  const found = consent.texts.filter((text) => parseDmarc(text))
  const authorized = consent.error ? null : found.some((text) => staysAt(host, text))
  return { name, authorized, record: found[0] ?? null, sameByPublicSuffix, error: consent.error }
}

/** Step 9: a consent may name another address, but only at the same host. */
function staysAt(host: string, text: string): boolean {
  const rua = valueOf(parseDmarc(text)?.tags ?? [], 'rua')
  return rua === undefined || listItems(rua, ',').every((uri) => parseReportUri(uri).host === host)
}
