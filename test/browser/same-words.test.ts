import { randomInt } from 'node:crypto'
import { sql } from 'kysely'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { composeEmail } from '../../src/alerts/channels/compose-email.ts'
import type { AlertRow } from '../../src/alerts/alerts.sql.ts'
import { main } from '../../src/cli/main.ts'
import {
  FIXES_TITLE,
  NOT_USED,
  SEVERITY_NAMES,
  STATE_NAMES,
  verdictInNumbers,
} from '../../src/domains/messages.ts'
import type { DomainLine, DomainReport, DomainSummary, LineName } from '../../src/domains/shapes.ts'
import { saveWatched } from '../../src/domains/watch/watched-domains.sql.ts'
import { openDatabase, type Database } from '../../src/store/database.ts'
import { startAllLists } from '../domains/check-with.ts'
import { makeCertificate } from '../servers/certificates.ts'
import { closeContexts, sharedChromium } from '../servers/chromium.ts'
import { startDns, type DnsServer } from '../servers/dns.ts'
import type { Rbldnsd } from '../servers/rbldnsd.ts'
import { SCRIPTS, startTlsServer, type TcpServer } from '../servers/tls.ts'
import { startTestService, type TestService } from '../service.ts'
import { goTo, heading, signedIn, visit, type Visit } from './browsing.ts'

// Own addresses of this machine, since servers listen on the usual ports.
const network = `127.${randomInt(2, 250)}.${randomInt(1, 250)}`
const [EXPIRED, CLOSED] = [`${network}.1`, `${network}.2`]
const LISTED = '8.8.4.4'

const SENDS_NOTHING = {
  MX: ['0 .'],
  TXT: ['v=spf1 -all'],
  '_dmarc TXT': ['v=DMARC1; p=reject; rua=mailto:d@reports.good.com'],
}
/** By domain, the records below it. */
const DOMAINS: Record<string, Record<string, string[]>> = {
  'good.com': { ...SENDS_NOTHING, 'reports MX': ['10 mx.good.com'] },
  'monitors.com': { ...SENDS_NOTHING, '_dmarc TXT': ['v=DMARC1; p=none; pct=50'] },
  'no-policy.com': { MX: ['0 .'], TXT: ['v=spf1 -all'] },
  'broken-spf.com': { ...SENDS_NOTHING, TXT: ['v=spf1 include:missing.com +all', 'v=spf1 -all'] },
  'listed.com': { ...SENDS_NOTHING, TXT: [`v=spf1 ip4:${LISTED} -all`] },
  'no-mx.com': { ...SENDS_NOTHING, MX: [], A: [CLOSED] },
  'alias.com': {
    ...SENDS_NOTHING,
    MX: ['10 mail.alias.com', '20 none.alias.com'],
    'mail CNAME': ['expired.com'],
    'none TXT': ['x'],
  },
  'expired.com': { ...SENDS_NOTHING, MX: ['10 expired.com'], A: [EXPIRED] },
  'unreachable.com': { 'MX': ['10 mail.unreachable.com'], 'mail A': [CLOSED], 'TXT': ['v=spf1 mx -all'] }, // prettier-ignore
}
const NAMES = Object.keys(DOMAINS)

let browser: Browser
let dns: DnsServer
let lists: Rbldnsd
let servers: TcpServer[]
let portreeve: TestService
let database: Database
let alice: Visit & { id: string; token: string }
let stranger: Visit
/** By domain: the answer of the API. */
const reports = new Map<string, { data: DomainReport; receipt: string }>()
const reportOf = (name: string) => reports.get(name)?.data as DomainReport

beforeAll(async () => {
  const records = Object.entries(DOMAINS).flatMap(([domain, own]) =>
    Object.entries(own).map(([key, texts]): [string, string[]] => {
      const [label = '', type = ''] = key.includes(' ') ? key.split(' ') : ['', key]
      return [`${label === '' ? domain : `${label}.${domain}`} ${type}`, texts]
    }),
  )
  const soa = NAMES.map((name): [string, string[]] => [
    `${name} NS`,
    [`ns1.${name}`, `ns2.${name}`],
  ])
  dns = await startDns({
    records: Object.fromEntries([...records, ...soa].filter(([, texts]) => texts.length > 0)),
    behaviours: { '_dmarc.unreachable.com *': 'SERVFAIL' },
  })
  lists = await startAllLists({ 'bl.spamcop.net': { listed: { [LISTED]: '127.0.0.2 spam' } } })
  const pem = makeCertificate({
    subject: '/CN=expired.com',
    altNames: ['DNS:expired.com', 'DNS:mail.alias.com'],
    from: -90,
    to: -2,
  })
  servers = await Promise.all([
    startTlsServer({ ...pem, script: SCRIPTS.smtp, host: EXPIRED, port: 25 }),
    startTlsServer({ ...pem, host: EXPIRED, port: 443 }),
  ])
  const env = {
    DNS_SERVERS: `127.0.0.1:${dns.port}`,
    DNSBL_SERVERS: `127.0.0.1:${lists.port}`,
    ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
  }
  // The runner has one of its own, which is no address.
  vi.stubEnv('BASE_URL', undefined)
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  portreeve = await startTestService(env)
  database = openDatabase(portreeve.databaseUrl)
  await sql`delete from pgboss.schedule where name like 'domains.%'`.execute(database.db)
  browser = await sharedChromium()
  const opened = await signedIn(browser, portreeve, 'Alice')
  const { id } = await database.db.selectFrom('account').select('id').executeTakeFirstOrThrow()
  alice = { ...opened, id, token: await portreeve.addToken(id, id) }
  stranger = await visit(browser, portreeve.url)
  await Promise.all([alice.page.goto('/tokens'), stranger.page.goto('/sign-in')])
  for (const name of NAMES)
    reports.set(name, (await get(`domains/${name}`)) as { data: DomainReport; receipt: string })
}, 90_000)
afterAll(async () => {
  vi.unstubAllEnvs()
  await closeContexts(browser)
  await database.close()
  await portreeve.stop()
  await Promise.all([dns.close(), lists.stop(), ...servers.map((server) => server.close())])
})

/** Runs `portreeve check` in this process: starting the program takes longer than a check. */
async function runCheck(...words: string[]): Promise<{ code: number; out: string }> {
  const lines: string[] = []
  const log = vi.spyOn(console, 'log').mockImplementation((line) => void lines.push(String(line)))
  try {
    const code = await main(['check', ...words])
    return { code, out: lines.join('\n') }
  } finally {
    log.mockRestore()
  }
}

async function get(path: string): Promise<unknown> {
  return (await portreeve.request(`/api/v1/${path}`, { token: alice.token })).json()
}

/** Everything that a report says, without times. */
const wordsOf = ({ verdict, stages, lines, fixes }: DomainReport) => ({ verdict, stages, lines, fixes }) // prettier-ignore

const lineOf = (name: string, line: LineName) =>
  reportOf(name).lines.find((one) => one.name === line) as DomainLine

const oneSpace = (text: string) => text.replaceAll(/\s+/g, ' ').trim()

/** What a page shows of each line: its state, title and sentence. */
async function linesOf(page: Page): Promise<string[]> {
  const items = page.locator('section[id^="stage-"] > ul > li')
  return items.evaluateAll((all) =>
    all.map((item) => {
      const [icon, words] = item.children
      return `${icon?.textContent} | ${words?.querySelector('p')?.textContent}`
    }),
  )
}

const shownLines = ({ stages, lines }: DomainReport) =>
  stages.flatMap(
    ({ name }) =>
    lines
      .filter(({ stage }) => stage === name)
      .map(({ isUsed, state, title, summary }) => `${isUsed ? STATE_NAMES[state] : NOT_USED} | ${title} ${summary}`), // prettier-ignore
  )

/** A page has the numbers of the verdict; the names that the sentence lists are links below them. */
function verdictOnPage({ verdict, lines }: DomainReport): string {
  const of = (state: DomainLine['state']) => lines.filter((line) => line.state === state).length
  const [bad, warnings, unknown] = [of('bad'), of('warning'), of('unknown')]
  return bad + warnings + unknown === 0
    ? verdict.sentence
    : verdictInNumbers(bad, warnings, unknown)
}

/**
 * Waits until a page shows everything of a report: while a check runs, its lines come one by one, and
 * its verdict may be the last one already.
 */
const expectSameWords = (page: Page, report: DomainReport) =>
  vi.waitFor(() => compareWords(page, report), { timeout: 60_000, interval: 100 })

async function compareWords(page: Page, report: DomainReport): Promise<void> {
  const verdict = page.getByText(verdictOnPage(report), { exact: true })
  expect(await verdict.count()).toBeGreaterThan(0)
  expect(await linesOf(page)).toEqual(shownLines(report))
  const stages = await page.locator('section[id^="stage-"] > h3').allTextContents()
  expect(stages).toEqual(report.stages.map(({ title }) => title))
  const all = oneSpace((await page.locator('main').textContent()) ?? '')
  for (const { details } of report.lines)
    for (const detail of details) expect(all).toContain(oneSpace(detail))
  for (const { name, type, severity, changes, caution } of report.fixes) {
    expect(all).toContain(`${name} ${type}${SEVERITY_NAMES[severity]}`)
    for (const { reason } of changes) expect(all).toContain(oneSpace(reason))
    if (caution) expect(all).toContain(oneSpace(caution))
  }
  const fixes = page.getByRole('heading', { name: FIXES_TITLE, exact: true })
  expect(await fixes.count()).toBe(report.fixes.length > 0 ? 1 : 0)
}

describe('the words about a domain', () => {
  it('are about domains in every state', () => {
    const states = NAMES.map((name) => reportOf(name).verdict.state)
    expect(new Set(states)).toEqual(new Set(['good', 'warning', 'bad']))
    expect(reportOf('unreachable.com').lines.map(({ state }) => state)).toContain('unknown')
  })

  it.each(NAMES)('are the same at the end of the event stream: %s', async (name) => {
    const answer = await portreeve.request(`/api/v1/domains/${name}/events`, { token: alice.token })
    const text = await answer.text()
    const [, data = ''] = /^event: report\ndata: (.*)$/m.exec(text) ?? []
    const report = (JSON.parse(data) as { data: DomainReport }).data
    expect(wordsOf(report)).toEqual(wordsOf(reportOf(name)))
    const [, early = ''] = /^event: fixes\ndata: (.*)$/m.exec(text) ?? []
    const { fixes } = JSON.parse(early) as Pick<DomainReport, 'fixes'>
    for (const fix of fixes) expect(report.fixes).toContainEqual(fix)
  })

  it('are the same on the command line, as a table and as JSON', async () => {
    for (const name of NAMES) {
      const table = await runCheck(name)
      const json = await runCheck(name, '--json')
      const report = reportOf(name)
      const { data } = JSON.parse(json.out) as { data: DomainReport }
      expect(wordsOf(data)).toEqual(wordsOf(report))
      expect([table.code, json.code]).toEqual([report.verdict.exitCode, report.verdict.exitCode])
      const shown = oneSpace(table.out)
      expect(shown).toContain(`${name} ${report.verdict.sentence}`)
      for (const { title } of report.stages) expect(table.out).toMatch(new RegExp(`^  ${title}$`, 'm')) // prettier-ignore
      for (const { title, summary, state, details } of report.lines) {
        expect(shown).toContain(oneSpace(`${title} ${summary}`))
        if (state !== 'good') for (const detail of details) expect(shown).toContain(oneSpace(detail)) // prettier-ignore
      }
      for (const fix of report.fixes) {
        expect(shown).toContain(`${fix.name} ${fix.type} ${SEVERITY_NAMES[fix.severity]}`)
        expect(shown).toContain(`+ "${oneSpace(fix.value)}"`)
        for (const { reason } of fix.changes) expect(shown).toContain(oneSpace(reason))
        if (fix.caution) expect(shown).toContain(oneSpace(fix.caution))
      }
      // No color without a terminal.
      expect(table.out).not.toContain('\u001b[')
    }
  })

  it.each(NAMES)('are the same in the dashboard and in a shared report: %s', async (name) => {
    const { data, receipt } = reports.get(name) as { data: DomainReport; receipt: string }
    await goTo(alice.page, `/domains/${name}`)
    await heading(alice.page, name).waitFor()
    await expectSameWords(alice.page, data)

    const shared = await portreeve.request('/api/v1/shared-checks', {
      method: 'POST',
      token: alice.token,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ results: [{ check: 'domain', data, receipt }] }),
    })
    const { data: link } = (await shared.json()) as { data: { token: string } }
    await goTo(stranger.page, `/shared/${link.token}`)
    await heading(stranger.page, `Check of ${name}`).waitFor()
    await expectSameWords(stranger.page, data)
  })

  it('are the same in the list of domains, the stored check, alerts and their emails', async () => {
    for (const name of NAMES) {
      const { lines, verdict } = reportOf(name)
      const row = await saveWatched(database.db, { workspaceId: alice.id, domain: name, hosts: [] })
      const at = new Date(Date.now() - 1_000_000).toISOString()
      const states = Object.fromEntries(
        lines.map((line) => [line.name, { state: 'good', suspect: { state: line.state, at } }]),
      )
      await database.db
        .updateTable('watchedDomain')
        .set({ states: JSON.stringify(states) })
        .where('id', '=', row.id)
        .execute()
      await get(`domains/${name}`)
      const { data: stored } = (await get(`domains/${name}/stored`)) as { data: DomainReport }
      expect(wordsOf(stored)).toEqual(wordsOf(reportOf(name)))
      const worse = lines.filter(({ state, name: line }) => (state === 'bad' || state === 'warning') && line !== 'registration') // prettier-ignore
      const { data } = (await get('alerts?kind=domain.worse&limit=100')) as {
        data: { alerts: AlertRow[] }
      }
      const alert = data.alerts.find(({ title }) => title.startsWith(`${name} got worse`))
      expect(alert !== undefined, name).toBe(worse.length > 0)
      if (!alert) continue
      expect(alert.title).toBe(`${name} got worse: ${worse.map(({ title }) => title).join(', ')}`)
      const email = composeEmail([{ ...alert, path: '', at: new Date(alert.at) }], {
        baseUrl: portreeve.url,
        workspaceId: alice.id,
      })
      for (const text of [alert.text, email.text]) {
        expect(text).toContain(verdict.sentence)
        for (const { title, state, summary } of worse)
          expect(text).toContain(`${title}: Good → ${STATE_NAMES[state]}. ${summary}`)
      }
    }
    const { data } = (await get('domains')) as { data: { domains: DomainSummary[] } }
    for (const { domain, sentence } of data.domains)
      expect(sentence).toBe(reportOf(domain).verdict.sentence)
  })
})

describe('the single checks', () => {
  type Single = { data: { warnings: (string | { message: string })[] }; verdict: { sentence: string } } // prettier-ignore

  /** The verdict and warnings of a check, which its table has word for word. */
  async function run(...words: string[]): Promise<{ sentence: string; warnings: string[] }> {
    const table = await runCheck(...words)
    const json = await runCheck(...words, '--json')
    const { data, verdict } = JSON.parse(json.out) as Single
    const warnings = data.warnings.map((one) => (typeof one === 'string' ? one : one.message))
    for (const text of [verdict.sentence, ...warnings])
      expect(oneSpace(table.out)).toContain(oneSpace(text))
    return { sentence: verdict.sentence, warnings }
  }

  /** Sentences of lines with a problem. */
  const problemsOf = (name: string, lines: LineName[]) =>
    lines
      .map((line) => lineOf(name, line))
      .filter(({ state, isUsed }) => state !== 'good' && isUsed)

  it('say of email authentication what the domain page says', async () => {
    const lines: LineName[] = ['spf', 'dmarc', 'dkim', 'mta-sts', 'tls-rpt', 'bimi']
    for (const name of [
      'good.com',
      'monitors.com',
      'no-policy.com',
      'broken-spf.com',
      'unreachable.com',
    ]) {
      // prettier-ignore
      const { sentence, warnings } = await run('dmarc', name)
      if (name === 'good.com') expect(lineOf(name, 'dmarc').summary).toBe(sentence)
      for (const { summary, details } of problemsOf(name, lines))
        for (const text of [summary, ...details])
          expect([sentence, ...warnings], `${name}: ${text}`).toContainEqual(
            expect.stringContaining(text),
          )
    }
  })

  it('say of mail servers what the domain page says', async () => {
    const { warnings } = await run('dns', 'alias.com')
    const { summary, details } = lineOf('alias.com', 'mx')
    expect(warnings.toSorted()).toEqual([summary, ...details].toSorted())
    expect(warnings).toHaveLength(2)
  })

  it('say of certificates what the domain page says', async () => {
    for (const [line, more] of [
      ['web-tls', []],
      ['smtp-tls', ['--port', '25', '--starttls', 'smtp']],
    ] as const) {
      // prettier-ignore
      const { warnings } = await run('ssl', 'expired.com', ...more)
      const { summary, details } = lineOf('expired.com', line)
      expect([summary, ...details]).toEqual(warnings.map((text) => `expired.com: ${text}`))
    }
  })

  it('say of an address on blocklists what the domain page says', async () => {
    expect((await run('blocklist', LISTED)).sentence).toBe(lineOf('listed.com', 'blocklists').summary) // prettier-ignore
  })
})
