import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DomainReport } from '../../src/domains/shapes.ts'
import { startAllLists } from '../domains/check-with.ts'
import { startDns, type DnsServer } from '../servers/dns.ts'
import type { Rbldnsd } from '../servers/rbldnsd.ts'
import { runPortreeve } from './command.ts'

let dns: DnsServer
let lists: Rbldnsd
let env: Record<string, string>
beforeAll(async () => {
  dns = await startDns({
    records: {
      'good.com MX': ['0 .'],
      'good.com TXT': ['v=spf1 -all'],
      '_dmarc.good.com TXT': ['v=DMARC1; p=reject; rua=mailto:d@reports.good.com'],
      'reports.good.com MX': ['10 mx.good.com'],
      'open.com MX': ['0 .'],
      'open.com TXT': ['v=spf1 -all \u001b[2J'],
      '_dmarc.open.com TXT': ['v=DMARC1; p=none'],
    },
    behaviours: { 'broken.com *': 'SERVFAIL', '_dmarc.unsure.com *': 'SERVFAIL' },
  })
  dns.records['unsure.com MX'] = ['0 .']
  dns.records['unsure.com TXT'] = ['v=spf1 -all']
  lists = await startAllLists()
  env = {
    DNS_SERVERS: `127.0.0.1:${dns.port}`,
    DNSBL_SERVERS: `127.0.0.1:${lists.port}`,
    ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
  }
})
afterAll(() => Promise.all([dns.close(), lists.stop()]))

const check = (...words: string[]) => runPortreeve(['check', ...words], env)

describe('portreeve check DOMAIN', () => {
  it('shows verdict and mail path, and exits with 0 where nothing is wrong', async () => {
    const { code, out } = await check('good.com')
    expect(out).toMatch(/good\.com {2}good\.com is in good order\./)
    expect(out).toMatch(/Sender → .*Authentication → .*MX → .*TLS → .*Reputation/)
    expect(code).toBe(0)
  })

  it('shows each fix as a diff with its reason, and exits with 1', async () => {
    const { code, out } = await check('open.com')
    expect(out).toMatch(/Fix these in order/)
    expect(out).toContain('- "v=DMARC1; p=none"')
    expect(out).toContain('+ "v=DMARC1; p=reject"')
    expect(out).not.toContain('\u001b[2J')
    expect(code).toBe(1)
  })

  it('prints the report of the API with --json', async () => {
    const { code, out } = await check('open.com', '--json')
    const { success, data } = JSON.parse(out) as { success: boolean; data: DomainReport }
    expect([success, data.domain, data.verdict.exitCode]).toEqual([true, 'open.com', code])
  })

  it('exits with 2 for what could not be checked, and for wrong usage', async () => {
    for (const domain of ['broken.com', 'nowhere.test', 'unsure.com', '192.0.2.1'])
      expect([domain, (await check(domain)).code]).toEqual([domain, 2])
    const { out, code } = await check('nowhere.test', '--json')
    expect([JSON.parse(out), code]).toMatchObject([{ success: false, code: 'not_found' }, 2])
  })
})
