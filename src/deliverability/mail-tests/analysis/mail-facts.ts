import { getDomain } from 'tldts'
import { parseAddress } from '../../../net/address.ts'
import type { Resolver } from '../../../net/dns.ts'
import type { SmtpConnection } from '../../../net/smtp-server.ts'
import { verifyArc, type ArcVerdict } from '../../../protocols/dkim/verify-arc.ts'
import { examineSignatures, type ExaminedSignature } from '../../../protocols/dkim/verify-dkim.ts'
import { discoverDmarc, type DmarcDiscovery } from '../../../protocols/dmarc/dmarc-discovery.ts'
import { evaluateDmarc, type DmarcVerdict } from '../../../protocols/dmarc/evaluate-dmarc.ts'
import { createDnsQueries, type DnsQueries } from '../../../protocols/dns-queries.ts'
import type { Blocklists, Listing } from '../../../protocols/dnsbl/blocklists.ts'
import type { DomainListing, DomainLists } from '../../../protocols/dnsbl/domain-lists.ts'
import { sweepAddress } from '../../../protocols/dnsbl/sweep-address.ts'
import { readHtml, type HtmlContent } from '../../../protocols/mail/html-content.ts'
import { parseMailboxes, type Mailbox } from '../../../protocols/mail/mailboxes.ts'
import {
  authorDomain,
  fieldValues,
  parseMessage,
  type Message,
} from '../../../protocols/mail/message.ts'
import {
  parseMime,
  textOf,
  type MimePart,
  type MimeStructure,
} from '../../../protocols/mail/mime.ts'
import { lookUpReverse, type ReverseDns } from '../../../protocols/networks/reverse-dns.ts'
import { evaluateSpf, type SpfEvaluation } from '../../../protocols/spf/evaluate-spf.ts'
import { once } from '../../../once.ts'
import { collectLinks, type MailLink } from './mail-links.ts'

/** How a mail came. `reported`: from its own Received field, or as a person said. */
export type MailOrigin = 'smtp' | 'imap' | 'raw'

/** A mail as it was received. Null for what is not known. */
export type TestMail = {
  origin: MailOrigin
  bytes: Uint8Array
  ip: string | null
  helo: string | null
  /** "" for the null reverse-path. */
  mailFrom: string | null
  rcptTo: string | null
  /** Null when the mail did not come over SMTP. */
  connection: SmtpConnection | null
  /** When the receiving server got it; null when that is not known. */
  receivedAt: Date | null
}

/** The services that the checks of a mail receive. */
export type AnalysisDeps = {
  resolver: Resolver
  blocklists: Blocklists
  domainLists: DomainLists
}

/** What the checks of one mail share; what needs DNS is looked up once, at its first use. */
export type MailFacts = {
  mail: TestMail
  message: Message
  mime: MimeStructure
  queries: DnsQueries
  resolver: Resolver
  signal: AbortSignal
  /** The mailboxes of all From fields. */
  authors: Mailbox[]
  /** The domain in From; null when there is none, or more than one. */
  fromDomain: string | null
  /** The domain that SPF is evaluated for: of the envelope sender, or of HELO for a bounce. */
  envelopeDomain: string | null
  /** The first part that is shown as plain text, and as HTML. */
  textPart: MimePart | null
  htmlPart: MimePart | null
  text: string
  html: HtmlContent | null
  links: MailLink[]
  /** Parts that a reader sees as files. */
  attachments: MimePart[]
  values: (name: string) => string[]
  reverseDns: () => Promise<ReverseDns | null>
  spf: () => Promise<SpfEvaluation | null>
  signatures: () => Promise<ExaminedSignature[]>
  dmarcRecord: () => Promise<DmarcDiscovery | null>
  dmarc: () => Promise<DmarcVerdict<Identifier> | null>
  arc: () => Promise<ArcVerdict>
  addressListings: () => Promise<Listing[] | null>
  domainListings: (domain: string) => Promise<DomainListing[]>
}

/** Each costs a query and a hash over the mail. */
const MAX_SIGNATURES = 20

type Identifier = { domain: string | null; result: string; method: 'spf' | 'dkim' }

/** Reads a mail for its checks. Everything in it is untrusted; Authentication-Results are ignored. */
export function createMailFacts(
  mail: TestMail,
  deps: AnalysisDeps,
  signal: AbortSignal,
): MailFacts {
  const { resolver, blocklists, domainLists } = deps
  const message = parseMessage(mail.bytes)
  const mime = parseMime(message)
  const queries = createDnsQueries(resolver, signal)
  const values = (name: string) => fieldValues(message, name)
  const shown = mime.leaves.filter(({ disposition }) => disposition !== 'attachment')
  const textPart = shown.find(({ type }) => type === 'text/plain') ?? null
  const htmlPart = shown.find(({ type }) => type === 'text/html') ?? null
  const text = textPart ? textOf(textPart) : ''
  const html = htmlPart && readHtml(textOf(htmlPart))
  const fromDomain = authorDomain(message)
  const ip = mail.ip === null ? null : (parseAddress(mail.ip)?.address ?? null)
  const domainChecks = new Map<string, Promise<DomainListing[]>>()

  const spf = once(async () => {
    if (ip === null || mail.mailFrom === null || (!mail.mailFrom && !mail.helo)) return null
    return evaluateSpf({ ip, sender: mail.mailFrom ?? '', helo: mail.helo ?? '' }, queries)
  })
  const signatures = once(() => examineSignatures(message, queries, Date.now(), MAX_SIGNATURES))
  // Without a known sender, the greeting says nothing about the mail.
  const envelope = mail.mailFrom === null ? '' : mail.mailFrom || mail.helo || ''
  const envelopeDomain = envelope.split('@').at(-1)?.toLowerCase().replace(/\.$/, '') || null

  return {
    mail: { ...mail, ip },
    message,
    mime,
    queries,
    resolver,
    signal,
    values,
    authors: values('from').flatMap(parseMailboxes),
    fromDomain,
    envelopeDomain,
    textPart,
    htmlPart,
    text,
    html,
    links: collectLinks(text, html),
    attachments: mime.leaves.filter(isAttachment),
    reverseDns: once(async () => (ip === null ? null : lookUpReverse(ip, resolver, signal))),
    spf,
    signatures,
    dmarcRecord: once(async () =>
      fromDomain === null ? null : discoverDmarc(fromDomain, queries),
    ),
    dmarc: once(async () => {
      if (fromDomain === null) return null
      const evaluated = await spf()
      const given = {
        from: fromDomain,
        spf: {
          domain: envelopeDomain,
          result: evaluated?.result ?? 'none',
          method: 'spf',
        } satisfies Identifier as Identifier,
        dkim: (await signatures()).map(({ domain, result }): Identifier => ({
          domain,
          result,
          method: 'dkim',
        })),
      }
      return evaluateDmarc(given, queries)
    }),
    arc: once(() => verifyArc(message, queries)),
    addressListings: once(async () => (ip === null ? null : sweepAddress(ip, blocklists, signal))),
    domainListings(domain) {
      const known = domainChecks.get(domain)
      if (known) return known
      const registeredDomain = getDomain(domain, { allowPrivateDomains: true }) ?? domain
      const checking = domainLists.check({ domain, registeredDomain }, signal)
      domainChecks.set(domain, checking)
      return checking
    },
  }
}

function isAttachment({ disposition, filename, type }: MimePart): boolean {
  return disposition === 'attachment' || (filename !== null && !type.startsWith('text/'))
}
