import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mailAuth } from '../../src/diagnostics/messages.ts'
import type { DomainReport } from '../../src/domains/shapes.ts'
import { startAllLists } from '../domains/check-with.ts'
import { startLists } from '../servers/blacklists.ts'
import { makeAuthority, makeCertificate } from '../servers/certificates.ts'
import { startDns, type DnsServer } from '../servers/dns.ts'
import type { Rbldnsd } from '../servers/rbldnsd.ts'
import { startTlsServer, type TcpServer } from '../servers/tls.ts'
import { PROGRAM, runInProcess, runPortreeve } from './command.ts'
import { openTerminal } from './terminal.ts'

let dns: DnsServer
let lists: Rbldnsd
let tls: TcpServer
let env: Record<string, string>

beforeAll(async () => {
  const { root, intermediate } = makeAuthority()
  const leaf = makeCertificate({
    subject: '/CN=www.example.test',
    altNames: ['DNS:www.example.test'],
    issuer: intermediate,
  })
  tls = await startTlsServer({ key: leaf.key, cert: leaf.cert + intermediate.cert + root.cert })
  dns = await startDns({
    records: {
      'example.test A': ['192.0.2.7'],
      'example.test MX': ['10 mx.example.test'],
      'example.test TXT': ['v=spf1 mx -all'],
      '_dmarc.example.test TXT': ['v=DMARC1; p=reject; rua=mailto:d@example.test'],
      'mx.example.test A': ['192.0.2.8'],
      'watching.test A': ['192.0.2.7'],
      'watching.test MX': ['10 mx.example.test'],
      'watching.test TXT': ['v=spf1 mx -all'],
      '_dmarc.watching.test TXT': ['v=DMARC1; p=none; rua=mailto:d@watching.test'],
      'www.example.test A': ['127.0.0.1'],
      'open.test A': ['192.0.2.9'],
      'open.test TXT': ['v=spf1 +all'],
      'evil.test A': ['192.0.2.9'],
      'evil.test TXT': ['\u001b[2Jgone'],
      'good.com MX': ['0 .'],
      'good.com TXT': ['v=spf1 -all'],
      '_dmarc.good.com TXT': ['v=DMARC1; p=reject; rua=mailto:d@reports.good.com'],
      'reports.good.com MX': ['10 mx.good.com'],
      'open.com MX': ['0 .'],
      'open.com TXT': ['v=spf1 -all \u001b[2J'],
      '_dmarc.open.com TXT': ['v=DMARC1; p=none'],
      'unsure.com MX': ['0 .'],
      'unsure.com TXT': ['v=spf1 -all'],
    },
    behaviours: {
      'broken.test *': 'SERVFAIL',
      'broken.com *': 'SERVFAIL',
      '_dmarc.unsure.com *': 'SERVFAIL',
    },
  })
  lists = await startAllLists({
    'bl.spamcop.net': { listed: { '8.8.4.4': '127.0.0.2 Seen at a trap' } },
    'psbl.surriel.com': { behaviour: 'refused' },
  })
  env = {
    DNS_SERVERS: `127.0.0.1:${dns.port}`,
    DNSBL_SERVERS: `127.0.0.1:${lists.port}`,
    ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
  }
})
afterAll(() => Promise.all([dns.close(), lists.stop(), tls.close()]))

describe('portreeve check DOMAIN', () => {
  const check = (...words: string[]) => runInProcess(['check', ...words], env)

  it('shows verdict and mail path, and exits with 0 where nothing is wrong', async () => {
    const { code, out } = await runPortreeve(['check', 'good.com'], env)
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

describe('portreeve check dns', () => {
  it('shows the records, and exits with 0', async () => {
    const { code, out } = await runPortreeve(['check', 'dns', 'Example.test.'], env)
    expect(out).toMatch(/A\s+192\.0\.2\.7/)
    expect(out).toMatch(/MX\s+10 mx\.example\.test/)
    expect(code).toBe(0)
  })

  it('exits with 1 for a name that does not exist or could not be looked up', async () => {
    expect(await runInProcess(['check', 'dns', 'nothing.test'], env)).toMatchObject({
      code: 1,
      err: '',
    })
    const { code, err } = await runInProcess(['check', 'dns', 'broken.test'], env)
    expect([code, err]).toEqual([1, expect.stringContaining('SERVFAIL')])
  })

  it('lets no escape sequence of a stranger through to the terminal', async () => {
    const { out } = await runInProcess(['check', 'dns', 'evil.test'], env)
    expect(out).toContain('gone')
    expect(out).not.toContain('\u001b[2J')
  })

  it('exits with 2 for a target that it cannot check', async () => {
    expect(await runInProcess(['check', 'dns', '127.0.0.1'], env)).toMatchObject({
      code: 2,
      out: '',
    })
    const { code, out } = await runInProcess(['check', '--json'], env)
    expect([code, JSON.parse(out)]).toMatchObject([2, { success: false, code: 'invalid_request' }])
  })
})

describe('portreeve check ssl', () => {
  it('reports a certificate that is not trusted, with its chain', async () => {
    const { code, out } = await runPortreeve(
      ['check', 'ssl', 'www.example.test', '--port', String(tls.port)],
      env,
    )
    expect(out).toMatch(/Error: The certificate isn’t trusted\..*SELF_SIGNED_CERT_IN_CHAIN/s)
    expect(out).toContain('Test intermediate')
    expect(code).toBe(1)
  })

  it('connects to nothing private unless it may', async () => {
    const { code, err } = await runInProcess(['check', 'ssl', 'www.example.test'], {
      ...env,
      ALLOW_PRIVATE_TARGETS: 'false',
    })
    expect([code, err]).toEqual([1, expect.stringContaining('127.0.0.1')])
  })

  it('rejects an unknown port and protocol', async () => {
    expect(await runInProcess(['check', 'ssl', 'a.test', '--port', '0'], env)).toMatchObject({
      code: 2,
    })
    expect(
      await runInProcess(['check', 'ssl', 'a.test', '--starttls', 'gopher'], env),
    ).toMatchObject({ code: 2 })
  })
})

describe('portreeve check blocklist', () => {
  it('prints listings and their links, then unknown lists, then the number of the others', async () => {
    const { code, out } = await runPortreeve(['check', 'blocklist', '8.8.4.4'], env)
    expect(out).toMatch(/Error: 8\.8\.4\.4 is on 1 of \d+ blocklists\. 1 couldn’t be checked\./)
    expect(out).toMatch(
      /listed\s+critical\s+bl\.spamcop\.net\s+127\.0\.0\.2 {2}Seen at a trap\n.*https:.*\n\s+unknown\s+\w+\s+psbl\.surriel\.com.*\n\s+clean\s+\d+ blocklists \(--all/,
    )
    expect(out.match(/^ +clean /gm)).toHaveLength(1)
    expect(code).toBe(1)
  })

  it('lists the others with --all, and answers to its name in the API and to an address alone', async () => {
    const { out } = await runInProcess(['check', 'blocklist', '8.8.4.4', '--all'], env)
    expect(out.match(/^ +clean /gm)?.length).toBeGreaterThan(80)
    for (const words of [['blacklist', '8.8.4.4'], ['8.8.4.4']]) {
      const old = await runInProcess(['check', ...words], env)
      expect([old.code, old.out]).toEqual([1, expect.stringContaining('bl.spamcop.net')])
    }
  })

  it('warns and exits with 1 when a critical list gave no answer', async () => {
    const refusing = await startLists({ 'bl.spamcop.net': { behaviour: 'refused' } })
    const { code, out } = await runInProcess(['check', 'blocklist', '9.9.9.10'], {
      ...env,
      DNSBL_SERVERS: `127.0.0.1:${refusing.port}`,
    })
    await refusing.stop()
    expect(out).toMatch(/Warning: 9\.9\.9\.10 .* 1 couldn’t be checked, 1 of them critical\./)
    expect(code).toBe(1)
  })

  it('does not call an address clean when a list gave no answer', async () => {
    const { code, out } = await runInProcess(['check', 'blocklist', '9.9.9.10'], env)
    expect(out).toMatch(/OK: 9\.9\.9\.10 is on none of \d+ blocklists\. 1 couldn’t be checked\./)
    expect(code).toBe(0)
  })

  it('gives the result of the API with --json, and nothing else', async () => {
    const { out } = await runInProcess(['check', 'blocklist', '8.8.4.4', '--json'], env)
    const { success, data, verdict } = JSON.parse(out)
    expect([success, verdict]).toEqual([true, { state: 'bad', sentence: expect.any(String) }])
    expect(data).toMatchObject({ ip: '8.8.4.4', listedCount: 1, unknownCount: 1 })
    expect(data.totalChecked).toBeGreaterThan(80)
  })

  it('rejects anything but a public IPv4 address', async () => {
    const { code, out } = await runInProcess(['check', 'blocklist', '10.0.0.1', '--json'], env)
    expect([code, JSON.parse(out)]).toEqual([
      2,
      expect.objectContaining({ success: false, code: 'invalid_request' }),
    ])
  })
})

describe('at a terminal', { timeout: 120_000 }, () => {
  it('shows colours unless NO_COLOR is set, and only the result of a blocklist check', async () => {
    const command = `"${process.execPath}" "${PROGRAM}" check blocklist 8.8.4.4`
    const bright = openTerminal(command, { env, rows: 40 })
    const plain = openTerminal(command, { env: { ...env, NO_COLOR: '1' }, rows: 40 })
    try {
      for (const terminal of [bright, plain]) {
        const shown = await terminal.until(/\[exit 1\]/)
        expect(shown).toMatch(/^\n? {2}8\.8\.4\.4\n {2}✗ Error: 8\.8\.4\.4 is on 1 of/)
        expect(shown).not.toContain('so far')
      }
      expect(bright.painted()).toContain('\u001b[')
      expect(plain.painted()).not.toContain('\u001b[')
    } finally {
      bright.close()
      plain.close()
    }
  })
})

describe('portreeve check dmarc', () => {
  it('shows the records in words', async () => {
    const { out } = await runPortreeve(['check', 'dmarc', 'example.test'], env)
    expect(out).toMatch(/DMARC\s+v=DMARC1; p=reject/)
    expect(out).toMatch(/SPF\s+v=spf1 mx -all/)
    expect(out).toContain('1 of 10 lookups')
  })

  it('tells whether an address may send', async () => {
    const { out } = await runInProcess(
      ['check', 'dmarc', 'example.test', '--ip', '192.0.2.8', '--ip', '192.0.2.9'],
      env,
    )
    expect(out).toMatch(/192\.0\.2\.8 {2}pass {2}by mx\n/)
    expect(out).toMatch(/192\.0\.2\.9 {2}fail {2}by -all\n/)
  })

  it('warns and exits with 1 for a policy that is not enforced, in the words of the dashboard', async () => {
    const { code, out } = await runInProcess(['check', 'dmarc', 'watching.test'], env)
    const sentence = mailAuth.policies.none
    expect(out).toContain(`! Warning: ${sentence}`)
    expect(code).toBe(1)
    const json = await runInProcess(['check', 'dmarc', 'watching.test', '--json'], env)
    expect([json.code, JSON.parse(json.out).verdict]).toEqual([1, { state: 'warning', sentence }])
  })

  it('calls an enforced policy OK, and exits with 0', async () => {
    const { code, out } = await runInProcess(['check', 'dmarc', 'example.test'], env)
    expect([code, out]).toEqual([0, expect.stringContaining(`✓ OK: ${mailAuth.policies.reject}`)])
  })

  it('exits with 1 for a domain without protection, and prints the record to publish', async () => {
    const { code, out } = await runInProcess(['check', 'dmarc', 'open.test'], env)
    expect(out).toMatch(/_dmarc\.open\.test {2}TXT {2}"v=DMARC1/)
    expect(code).toBe(1)
  })
})
