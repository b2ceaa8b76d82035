import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { EXAMPLE_REPORT } from '../../src/domains/example.ts'
import { verdictInNumbers } from '../../src/domains/messages.ts'
import { LINES } from '../../src/domains/lines/lines.ts'
import { LINES_BY_STAGE, STAGE_NAMES, type DomainReport } from '../../src/domains/shapes.ts'
import { stagesOf, verdictOf } from '../../src/domains/domain-verdict.ts'
import { closeContexts, sharedChromium } from '../servers/chromium.ts'
import { sharedService, type Person, type TestService } from '../service.ts'
import { heading, visit, type Visit } from './browsing.ts'
import { share } from './screen-data.ts'

let browser: Browser
let portreeve: TestService
let alice: Person
let stranger: Visit
beforeAll(async () => {
  portreeve = await sharedService()
  alice = await portreeve.addPerson('Alice')
  browser = await sharedChromium()
  stranger = await visit(browser, portreeve.url)
})
afterAll(() => closeContexts(browser))

const many = <T>(count: number, of: (index: number) => T) => Array.from({ length: count }, (_, index) => of(index)) // prettier-ignore
const ADDRESSES = many(60, (index) => `203.0.113.${index}`)
const SPF = `v=spf1 ${ADDRESSES.map((ip) => `ip4:${ip}`).join(' ')} -all`

/** A report in which every part is large. */
function largeReport(detailLength: number): DomainReport {
  const lines = LINES.map(({ name, title }, index): DomainReport['lines'][number] => ({
    name,
    title,
    stage: STAGE_NAMES.find((stage) => (LINES_BY_STAGE[stage] as readonly string[]).includes(name)) ?? 'mx', // prettier-ignore
    state: (['bad', 'warning', 'unknown', 'good'] as const)[index % 4] ?? 'good',
    isUsed: true,
    summary: `mail.example.com: The certificate of ${title} expires in 3 days, on 2026-11-27. Renew it now.`,
    details: many(20, (detail) => `Remark ${detail} about sender ${detail}. ${'More about it. '.repeat(detailLength)}`), // prettier-ignore
    evidence: ADDRESSES.map((label) => ({ label, value: '2 listed, 87 not listed, 0 unknown', state: 'bad' })), // prettier-ignore
  }))
  return {
    ...EXAMPLE_REPORT,
    lines,
    verdict: verdictOf('example.com', lines),
    stages: stagesOf(lines),
    fixes: many(15, (index) => ({
      name: index === 0 ? 'example.com' : `s${index}._domainkey.example.com`,
      type: 'TXT',
      line: 'spf',
      severity: 'bad',
      published: [SPF.replace('-all', '?all')],
      value: SPF,
      changes: [
        { removed: '?all', added: '-all', reason: 'Servers that are not named must not send.' },
        { removed: null, added: `ip4:203.0.113.${index}`, reason: `Sender ${index} sends here.` },
      ],
      caution: 'Check with your providers before you publish it.',
    })) as DomainReport['fixes'],
  }
}

/** The number of printed pages, and the words on them. */
async function print(page: Page): Promise<{ pages: number; text: string }> {
  const pdf = await page.pdf({ format: 'A4' })
  const pages = pdf.toString('latin1').match(/\/Type\s*\/Page\b(?!s)/g)?.length ?? 0
  await page.emulateMedia({ media: 'print' })
  const text = await page.locator('main').innerText()
  // Not `screen`, in which the next PDF would be printed.
  await page.emulateMedia({ media: null })
  return { pages, text }
}

describe('the printed report of a large domain', () => {
  it.each([1, 12])('has two pages at most, and counts what it leaves out (%i)', async (length) => {
    const data = largeReport(length)
    const { page } = stranger
    await page.goto(`/shared/${await share(portreeve, alice, data)}`)
    await heading(page, 'Check of example.com').waitFor()
    const { pages, text } = await print(page)
    expect(pages).toBe(2)
    for (const { title } of data.lines) expect(text).toContain(title)
    const linesIn = (state: string) => data.lines.filter((line) => line.state === state).length
    expect(text).toContain(verdictInNumbers(linesIn('bad'), linesIn('warning'), linesIn('unknown')))
    const records = data.fixes.filter(({ name }) => text.includes(`${name} TXT`)).length
    const [, unprinted] = /(\d+) more records? not printed: s\d+\._domainkey/.exec(text) ?? []
    expect(records).toBeGreaterThan(0)
    expect(records + Number(unprinted)).toBe(data.fixes.length)
    const left = [...text.matchAll(/… and (\d+) more, not printed/g)].map(([, count]) => Number(count)) // prettier-ignore
    const remarks = text.match(/Remark \d+/g)?.length ?? 0
    const results = text.match(/2 listed, 87/g)?.length ?? 0
    const all = data.lines.reduce((sum, { details, evidence }) => sum + details.length + evidence.length, 0) // prettier-ignore
    expect(remarks + results + left.reduce((sum, count) => sum + count, 0)).toBe(all)
    // A problem has more room than what is in order.
    expect(remarks).toBeGreaterThan(0)
  })
})
