import { Fault } from '../../errors.ts'
import type { SmallResponse } from '../../net/http/get-small.ts'
import { parseBimi, type BimiFinding } from '../../protocols/mail/bimi.ts'
import { probeSelectors } from '../../protocols/dkim/probe-selectors.ts'
import { providersOf, type Provider } from '../../protocols/dkim/dkim-selectors.ts'
import { checkDestinations } from '../../protocols/dmarc/report-destinations.ts'
import { discoverDmarc } from '../../protocols/dmarc/dmarc-discovery.ts'
import { lookUpMailUse } from '../../protocols/mail/mail-use.ts'
import {
  parseStsPolicy,
  policyUrl,
  type FetchedPolicy,
  resemblesSts,
} from '../../protocols/mail/mta-sts.ts'
import { registeredDomain } from '../../protocols/dmarc/public-suffix.ts'
import type { DnsQueries } from '../../protocols/dns-queries.ts'
import { walkSpf } from '../../protocols/spf/spf-tree.ts'
import { isSpf, parseSpf } from '../../protocols/spf/spf-record.ts'

/** @throws Fault when the file could not be had */
export type FetchFile = (url: URL) => Promise<SmallResponse>

export type MailFacts = Awaited<ReturnType<typeof gatherFacts>>

/** All that is known of a domain's mail, asked side by side. */
export async function gatherFacts(
  domain: string,
  asked: string[],
  queries: DnsQueries,
  fetchFile: FetchFile,
) {
  const [own, mailUse, obsolete, dmarc, spf, dkim, mtaSts, tlsRpt, bimi] = await Promise.all([
    queries.lookUpTxt(domain),
    lookUpMailUse(domain, queries),
    queries.query(domain, 'SPF'),
    gatherDmarc(domain, queries),
    walkSpf(domain, queries),
    gatherDkim(domain, asked, queries),
    gatherMtaSts(domain, queries, fetchFile),
    queries.lookUpTxt(`_smtp._tls.${domain}`),
    gatherBimi(domain, queries),
  ])
  const hasObsoleteType = obsolete.status !== 'FAILED' && obsolete.records.length > 0
  return { own, mailUse, hasObsoleteType, ...dmarc, spf, dkim, mtaSts, tlsRpt, bimi }
}

export async function gatherDmarc(domain: string, queries: DnsQueries) {
  const dmarc = await discoverDmarc(domain, queries)
  const { record, policyDomain } = dmarc
  const destinations =
    record && policyDomain ? await checkDestinations(policyDomain, record, queries) : []
  return { dmarc, destinations }
}

/** The provider of the domain’s mail decides which selectors are tried first. */
export async function gatherDkim(domain: string, asked: string[], queries: DnsQueries) {
  const providers = await findProviders(domain, queries)
  return { providers, probe: await probeSelectors(domain, { asked, providers }, queries) }
}

/** The mail providers of a domain, by its MX records and the includes of its SPF record. */
export async function findProviders(domain: string, queries: DnsQueries): Promise<Provider[]> {
  const [{ exchanges }, { texts }] = await Promise.all([
    lookUpMailUse(domain, queries),
    queries.lookUpTxt(domain),
  ])
  const terms = texts.filter(isSpf).flatMap((text) => parseSpf(text).terms)
  const includes = terms.flatMap(({ name, value }) =>
    name === 'include' && value ? [value.toLowerCase()] : [],
  )
  return providersOf(exchanges, includes)
}

export async function gatherMtaSts(domain: string, queries: DnsQueries, fetchFile: FetchFile) {
  const found = await queries.lookUpTxt(`_mta-sts.${domain}`)
  // Of a broken record, too: a valid one makes senders apply the policy.
  const isPublished = found.texts.some(resemblesSts)
  return { found, fetched: isPublished ? await fetchPolicy(policyUrl(domain), fetchFile) : null }
}

async function fetchPolicy(url: URL, fetchFile: FetchFile): Promise<FetchedPolicy> {
  try {
    const { status, contentType, body } = await fetchFile(url)
    // RFC 8461, 3.3: anything but 200, redirects among it, is a failure.
    if (status !== 200) return { failure: `${url.href} returned HTTP status ${status}.` }
    return { policy: parseStsPolicy(body.toString()), contentType }
  } catch (error) {
    if (error instanceof Fault) return { failure: error.message, isOutOfReach: isOutOfReach(error) }
    throw error
  }
}

/** Whether a network on the way, and not the server, kept a connection from being made. */
function isOutOfReach({ code, cause }: Fault): boolean {
  const { code: reason = '' } = (cause ?? {}) as { code?: string }
  return code === 'upstream_timeout' || /^E(?:HOSTUNREACH|NETUNREACH|ACCES|PERM)$/.test(reason)
}

/**
 * A domain without a record of its own shows its organisation's logo. Several records at the domain
 * end the search, and so does a question without answer.
 */
export async function gatherBimi(domain: string, queries: DnsQueries): Promise<BimiFinding> {
  const names = [...new Set([domain, registeredDomain(domain) ?? domain])].map(
    (name) => `default._bimi.${name}`,
  )
  const found = await Promise.all(
    names.map(async (name) => {
      const { texts, error } = await queries.lookUpTxt(name)
      return { name, records: texts.map(parseBimi).filter((record) => record !== null), error }
    }),
  )
  const decisive = found.find(({ records, error }) => records.length > 0 || error !== null)
  return decisive ?? { name: `default._bimi.${domain}`, records: [], error: null }
}
