import { getDomain } from 'tldts'
import { parseAddress } from '../../../net/address.ts'
import type { HtmlContent } from '../../../protocols/mail/html-content.ts'

/** A link of a mail. It is never fetched. */
export type MailLink = {
  url: string
  /** In A-labels; "" for `mailto:` and other links without one. */
  host: string
  /** The registered domain; null for an address, or a name without one. */
  domain: string | null
  scheme: string
  isAddress: boolean
  /** What the reader sees of it; "" in plain text. */
  text: string
}

const MAX_LINKS = 500
/** Longer ones are of no use to a reader. */
const MAX_URL_CHARACTERS = 8_000

/** The distinct links of both texts of a mail. */
export function collectLinks(text: string, html: HtmlContent | null): MailLink[] {
  const plain = text.matchAll(/\bhttps?:\/\/[^\s<>"'()[\]{}|\\^`]{1,2000}/gi)
  const found = [
    ...(html?.links ?? []),
    ...Array.from(plain.take(MAX_LINKS), ([href]) => ({
      href: href.replace(/[.,;:!?]+$/, ''),
      text: '',
    })),
  ]
  const links = new Map<string, MailLink>()
  for (const { href, text: shown } of found) {
    const link = readLink(href, shown)
    if (link && links.size < MAX_LINKS && !links.has(link.url)) links.set(link.url, link)
  }
  return [...links.values()]
}

/** Null for what is no absolute URL, such as a link within the mail. */
function readLink(href: string, text = ''): MailLink | null {
  if (href.length > MAX_URL_CHARACTERS || !URL.canParse(href)) return null
  const { protocol, hostname } = new URL(href)
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  const isAddress = parseAddress(host) !== null
  return {
    url: href,
    host,
    domain: isAddress ? null : getDomain(host, { allowPrivateDomains: true }),
    scheme: protocol.slice(0, -1),
    isAddress,
    text,
  }
}
