import type { SmtpConnection } from '../../../src/net/smtp-server.ts'
import { analyzeMail } from '../../../src/deliverability/mail-tests/analysis/analyze-mail.ts'
import type { Finding } from '../../../src/deliverability/mail-tests/analysis/finding.ts'
import type { TestMail } from '../../../src/deliverability/mail-tests/analysis/mail-facts.ts'
import { createBlocklists } from '../../../src/protocols/dnsbl/blocklists.ts'
import { readCatalogue } from '../../../src/protocols/dnsbl/blocklist-catalogue.ts'
import { createDomainLists } from '../../../src/protocols/dnsbl/domain-lists.ts'
import { publicKeyOf, signedMail, type SignatureSpec } from '../../protocols/mail/signed-mail.ts'
import type { Resolver } from '../../../src/net/dns.ts'
import { mapResolver } from '../../resolver.ts'

/** A mail and the world that it comes from. */
export type MailSpec = {
  /** Header fields besides those of the body. */
  fields: string[]
  /** The plain text; null leaves it out. In UTF-8. */
  text: string | null
  html: string | null
  attachments: { name: string; type: string; content: Buffer }[]
  /** Header fields and body instead of those that are made of the texts, in Latin-1. */
  raw?: { fields: string[]; body: string }
  /** Changes the finished text of the body, before signing. */
  editBody?: (body: string) => string
  /** Changes the finished mail, after signing. */
  edit?: (mail: string) => string
  signatures: SignatureSpec[]
  records: Record<string, string[]>
  failures: Record<string, 'SERVFAIL' | 'TIMEOUT'>
  ip: string
  helo: string
  mailFrom: string
  rcptTo: string
  connection: SmtpConnection
}

export const IP = '93.184.216.34'
const NOW = new Date('2026-11-30T09:00:00Z')

const SIGNED =
  'from:from:to:subject:date:message-id:mime-version:content-type:list-unsubscribe:list-unsubscribe-post'

export const SIGNATURE: SignatureSpec = { tags: { d: 'sender.test', s: 's1', h: SIGNED } }

/** The blocklists of the corpus, each of which returns its test entry. */
const ZONES = ['zen.spamhaus.org', 'bl.spamcop.net', 'dnsbl-1.uceprotect.net', 'all.s5h.net']

const RECORDS: Record<string, string[]> = {
  'sender.test A': ['93.184.216.40'],
  'sender.test MX': ['10 mail.sender.test'],
  'sender.test TXT': [`v=spf1 ip4:${IP} -all`],
  'mail.sender.test A': [IP],
  '34.216.184.93.in-addr.arpa PTR': ['mail.sender.test'],
  '_dmarc.sender.test TXT': ['v=DMARC1; p=reject; rua=mailto:d@sender.test'],
  's1._domainkey.sender.test TXT': ['v=DKIM1; p={rsa}'],
  'www.sender.test A': ['93.184.216.41'],
  'other.test A': ['93.184.216.50'],
  'other.test MX': ['10 mail.other.test'],
  'www.other.test A': ['93.184.216.51'],
  ...Object.fromEntries(ZONES.map((zone) => [`2.0.0.127.${zone} A`, ['127.0.0.2']])),
  'dbltest.com.dbl.spamhaus.org A': ['127.0.1.2'],
  'test.surbl.org.multi.surbl.org A': ['127.0.0.254'],
  'test.uribl.com.multi.uribl.com A': ['127.0.0.14'],
}

export function baseSpec(): MailSpec {
  return {
    fields: [
      'From: Anna Sender <anna@sender.test>',
      'To: <check@tests.test>',
      'Subject: Your order of 28 November',
      'Date: Mon, 30 Nov 2026 08:59:50 +0000',
      'Message-ID: <20261130085950.1234@sender.test>',
    ],
    text: 'Hello,\n\nthank you for your order. We send it tomorrow morning by post, and you get\nthe number of the parcel in another message.\n\nhttps://www.sender.test/orders/1234\n\nYours, Anna\n',
    html: '<html><body><p>Hello,</p><p>thank you for your order. We send it tomorrow morning by post, and you get the number of the parcel in another message.</p><p><a href="https://www.sender.test/orders/1234">Your order</a></p><p>Yours, Anna</p></body></html>',
    attachments: [],
    signatures: [SIGNATURE],
    records: {},
    failures: {},
    ip: IP,
    helo: 'mail.sender.test',
    mailFrom: 'bounces@sender.test',
    rcptTo: 'check@tests.test',
    connection: {
      tls: { version: 'TLSv1.3', cipher: 'TLS_AES_256_GCM_SHA384' },
      isTlsOffered: true,
      isExtended: true,
      parameters: ['BODY=8BITMIME'],
    },
  }
}

/** A newsletter with everything that bulk mail needs. */
export function newsletterSpec(): MailSpec {
  const base = baseSpec()
  return {
    ...base,
    fields: [
      ...base.fields.map((field) =>
        field.replace('Your order of 28 November', 'News of the winter'),
      ),
      'List-Unsubscribe: <https://www.sender.test/u/abc>, <mailto:u@sender.test>',
      'List-Unsubscribe-Post: List-Unsubscribe=One-Click',
    ],
    text: `${base.text}\nUnsubscribe: https://www.sender.test/u/abc\n`,
    html: (base.html ?? '').replace(
      '</body>',
      '<img src="https://www.sender.test/logo.png" alt="Logo"><p><a href="https://www.sender.test/u/abc">Unsubscribe</a></p></body>',
    ),
  }
}

const latin1 = (text: string) => Buffer.from(text.replaceAll('\n', '\r\n')).toString('latin1')

/** The MIME fields and body of the texts and files of a spec. */
function composeBody(spec: MailSpec): { fields: string[]; body: string } {
  if (spec.raw) return spec.raw
  const texts = [
    ...(spec.text === null ? [] : [textPart('text/plain', spec.text)]),
    ...(spec.html === null ? [] : [textPart('text/html', spec.html)]),
  ]
  const alternative = texts.length > 1 ? multipart('alternative', texts, 'alt') : texts[0]
  const files = spec.attachments.map(({ name, type, content }) => ({
    fields: [
      `Content-Type: ${type}; name="${name}"`,
      `Content-Disposition: attachment; filename="${name}"`,
      'Content-Transfer-Encoding: base64',
    ],
    body: `${content.toString('base64').replaceAll(/.{76}/g, '$&\r\n')}\r\n`,
  }))
  const parts = [...(alternative ? [alternative] : []), ...files]
  const root = files.length > 0 ? multipart('mixed', parts, 'mix') : alternative
  return { fields: ['MIME-Version: 1.0', ...(root?.fields ?? [])], body: root?.body ?? '' }
}

function textPart(type: string, text: string) {
  return {
    fields: [`Content-Type: ${type}; charset=utf-8`, 'Content-Transfer-Encoding: 8bit'],
    body: latin1(text),
  }
}

function multipart(kind: string, parts: { fields: string[]; body: string }[], boundary: string) {
  const inner = parts.map(
    ({ fields, body }) => `--${boundary}\r\n${fields.join('\r\n')}\r\n\r\n${body}\r\n`,
  )
  return {
    fields: [`Content-Type: multipart/${kind}; boundary="${boundary}"`],
    body: `${inner.join('')}--${boundary}--\r\n`,
  }
}

/** The bytes of a mail, signed by code of the tests alone. */
function bytesOf(spec: MailSpec): Buffer {
  const { fields, body } = composeBody(spec)
  const mail = signedMail({
    fields: [...spec.fields, ...fields],
    body: spec.editBody?.(body) ?? body,
    signatures: spec.signatures,
  })
  return Buffer.from(spec.edit?.(mail) ?? mail, 'latin1')
}

const CATALOGUE = (() => {
  const catalogue = readCatalogue(undefined)
  return { ...catalogue, lists: catalogue.lists.filter(({ zone }) => ZONES.includes(zone)) }
})()

/** Analyzes a mail in its world. */
export async function analyze(spec: MailSpec, more: Partial<TestMail> = {}): Promise<Finding[]> {
  const zone = { ...RECORDS, ...spec.records }
  const filled = Object.fromEntries(
    Object.entries(zone).map(([name, texts]) => [name, texts.map(withKeys)]),
  )
  const map = mapResolver(filled, spec.failures)
  const resolver: Resolver = {
    ...map,
    query: (name, ...rest) => map.query(name.replace(/\.$/, ''), ...rest),
  }
  const blocklists = createBlocklists({ catalogue: CATALOGUE, keys: new Map(), resolver })
  const mail: TestMail = {
    origin: 'smtp',
    bytes: bytesOf(spec),
    ip: spec.ip,
    helo: spec.helo,
    mailFrom: spec.mailFrom,
    rcptTo: spec.rcptTo,
    connection: spec.connection,
    receivedAt: NOW,
    ...more,
  }
  return analyzeMail(
    mail,
    { resolver, blocklists, domainLists: createDomainLists(blocklists) },
    {
      signal: AbortSignal.timeout(30_000),
      onDefect: (check, error) => {
        throw new Error(check, { cause: error })
      },
    },
  )
}

function withKeys(text: string): string {
  return text.replaceAll(/\{(\w+)\}/g, (_, name: string) => publicKeyOf(name as 'rsa'))
}
