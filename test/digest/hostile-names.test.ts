import * as fc from 'fast-check'
import type { Email } from 'postal-mime'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { composeDigest } from '../../src/digest/content/compose.ts'
import type { DigestFacts } from '../../src/digest/content/facts.ts'
import { gatherFacts } from '../../src/digest/content/gather.ts'
import { digestHeaders } from '../../src/digest/delivery/digest-email.ts'
import { renderHtml } from '../../src/digest/render/html.ts'
import { renderText } from '../../src/digest/render/render-text.ts'
import { sendMail } from '../../src/net/smtp.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { addAccount } from '../people.ts'
import { startSink, type Sink } from '../servers/mail-sink.ts'
import { fillBusyWeek } from './fill.ts'
import { READERS } from './module.ts'
import { anyText } from '../any-text.ts'

const BASE_URL = 'https://portreeve.example.com'
const NOW = '2026-11-23T08:00:00Z'
const RUNS = 150

let database: FreshDatabase
let sink: Sink
/** Everything that a digest shows, of a busy week. */
let facts: DigestFacts
beforeAll(async () => {
  ;[database, sink] = await Promise.all([freshDatabase(), startSink()])
  const { db } = database
  const email = 'alice@people.test'
  const { id } = await addAccount(db, { email, password: 'a password', plan: 'pro' })
  const member = { workspaceId: id, accountId: id }
  await fillBusyWeek(db, member, NOW)
  const period = { from: new Date('2026-11-16T08:00:00Z'), to: new Date(NOW) }
  const settings = { frequency: 'weekly', weekday: 1, hour: 8, timeZone: 'UTC' } as const
  const request = { ...member, workspace: 'Alice', settings, period, nextAt: new Date(NOW) }
  facts = await gatherFacts({ db, readers: READERS }, request)
})
afterAll(() => Promise.all([database.drop(), sink.stop()]))

/** Fields whose values the service itself chooses, and addresses, which the database has as such. */
const OWN =
  /^(?:(?:host|domain|workspace|account)?id|path|lastFour|validTo|ip|kind|(?:from|to)?state|status|change|severity|handling|days|settings|period)$/i

/** The facts with other names everywhere: of hosts, domains, lists, senders, users and workspaces. */
function renamed(names: string[]): DigestFacts {
  let count = 0
  const nextName = () => names[count++ % names.length] ?? ''
  const rename = (value: unknown, key = ''): unknown => {
    if (OWN.test(key) || value instanceof Date) return value
    if (typeof value === 'string') return nextName()
    if (Array.isArray(value)) return value.map((one) => rename(one))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, rename(one, name)]))
  }
  return rename(facts) as DigestFacts
}

const unsubscribeUrl = `${BASE_URL}/digest/unsubscribe/abc`

function render(names: string[]) {
  const digest = composeDigest(renamed(names), {
    baseUrl: BASE_URL,
    email: 'alice@people.test',
    unsubscribeUrl,
  })
  return { digest, html: renderHtml(digest, BASE_URL), text: renderText(digest, BASE_URL) }
}

/** The message as a relay gets it. */
async function sent({ digest, html, text }: ReturnType<typeof render>): Promise<Email> {
  const { workspaceId } = facts
  const mail = {
    to: 'alice@people.test',
    subject: digest.subject,
    text,
    html,
    headers: digestHeaders(unsubscribeUrl, { workspaceId, baseUrl: BASE_URL }),
  }
  const relay = { smtpUrl: sink.url, from: 'alerts@portreeve.test' }
  await sendMail(relay, mail, AbortSignal.timeout(10_000))
  return sink.mails.at(-1) as Email
}

const HOSTILE_PARTS = [
  ['<script>alert(1)</script>', '"><img src=x onerror=alert(1)>', "' onmouseover='alert(1)"],
  ['<!--', '-->', '<![endif]-->', '<!--[if mso]>', '</td></tr></table>', '</style>', '<', '>'],
  ['\r\n', '\n', '\r', '\r\n\r\n', '\r\nBcc: all@example.com\r\n', '\n.\n', '\r\n.\r\n', '.'],
  ['From ', '=', '=\r\n', '=3D', '=?utf-8?q?x?=', '=?utf-8?b?PGI+?=', ' ', '\t', '--', '-- \n'],
  ['\u202E', '\u2066', '\u200F', '\u061C', '\u2028', '\u0085', '\u00AD', '\uFEFF', '\0'],
  ['&lt;', '&#60;', '&amp;', '&', '{{x}}', '$&', '$1', '%0d%0a', '\\', '`', '\x1B[31m'],
  ['😀', 'é', 'e\u0301', '漢'.repeat(400), '👨‍👩‍👧‍👦'.repeat(50), 'a'.repeat(76), 'a'.repeat(998)],
].flat()

/** Ends in a letter, so that no name is empty, which has its own texts. */
const HOSTILE = fc
  .oneof(
    fc.array(fc.constantFrom(...HOSTILE_PARTS), { maxLength: 8 }).map((parts) => parts.join('')),
    anyText({ maxLength: 300 }),
  )
  .map((text) => `${text.toWellFormed()}x`)
const NAMES = fc.array(HOSTILE, { minLength: 7, maxLength: 7 })

/** The markup without its texts, and without the addresses of links. */
const markupOf = (html: string) =>
  (html.match(/<[^>]*>/g) ?? []).map((tag) => tag.replace(/ href="[^"<>]*"/, ' href'))

const linesOf = (text: string) => text.split('\n').length

describe('a digest of hostile names', () => {
  it('has the markup of harmless ones, and links to the dashboard only', () => {
    const harmless = markupOf(render(['x']).html)
    expect(harmless.length).toBeGreaterThan(200)
    const property = fc.property(NAMES, (names) => {
      const { html } = render(names)
      expect(markupOf(html)).toEqual(harmless)
      for (const [, href] of html.matchAll(/ href="([^"]*)"/g))
        expect(href).toMatch(/^https:\/\/portreeve\.example\.com\/[\w/.?=%&#;'()*!~-]*$/)
    })
    fc.assert(property, { numRuns: RUNS })
  })

  it('has the lines of harmless ones in its text, without characters that control or reorder it', () => {
    const harmless = linesOf(render(['x']).text)
    const property = fc.property(NAMES, (names) => {
      const { text, digest } = render(names)
      expect(linesOf(text)).toBe(harmless)
      // Joiners inside words do neither.
      expect(text).not.toMatch(/(?![\n\u200c\u200d])[\p{Cc}\p{Cf}\u2028\u2029]/u)
      expect(digest.subject).not.toMatch(/(?![\u200c\u200d])[\p{Cc}\p{Cf}\u2028\u2029]/u)
      expect(digest.subject.length).toBeLessThan(250)
    })
    fc.assert(property, { numRuns: RUNS })
  })

  it('arrives with the headers of harmless ones, and with subject, text and HTML unchanged', async () => {
    const keysOf = ({ headers }: Email) => headers.map(({ key }) => key).toSorted()
    const harmless = keysOf(await sent(render(['x'])))
    expect(harmless).toContain('list-unsubscribe')
    const property = fc.asyncProperty(NAMES, async (names) => {
      const rendered = render(names)
      const mail = await sent(rendered)
      expect(keysOf(mail)).toEqual(harmless)
      expect(mail.to).toEqual([{ address: 'alice@people.test', name: '' }])
      expect(mail.subject).toBe(rendered.digest.subject)
      expect(mail.text?.trimEnd()).toBe(rendered.text.trimEnd())
      expect(mail.html?.trimEnd()).toBe(rendered.html.trimEnd())
      expect(mail.attachments).toEqual([])
    })
    await fc.assert(property, { numRuns: RUNS })
  }, 60_000)
})
