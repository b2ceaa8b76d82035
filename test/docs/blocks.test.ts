import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { ROOT } from '../../src/version.ts'
import { startLists } from '../servers/blacklists.ts'
import { startDns, type DnsServer } from '../servers/dns.ts'
import type { Rbldnsd } from '../servers/rbldnsd.ts'
import { makeCertificate } from '../servers/certificates.ts'
import { startTlsServer, type TcpServer } from '../servers/tls.ts'
import { startTestService, type TestService } from '../service.ts'
import { apiFunction, blocksIn, examplesIn, startShell } from '../shell.ts'

/** Pages whose examples need servers of their own: each has a test that runs all of them. */
const OWN_TESTS: Record<string, string> = {
  'docs/alert-rules.md': 'test/alerts/docs.test.ts',
  'docs/alerts.md': 'test/alerts/docs.test.ts',
  'docs/attack-reporting.md': 'test/abuse/docs.test.ts',
  'docs/blocklist.md': 'test/abuse/docs.test.ts',
  'docs/delisting.md': 'test/delisting/docs.test.ts',
  'docs/dmarc-reports.md': 'test/dmarc/docs.test.ts',
  'docs/dmarc.md': 'test/dmarc/docs.test.ts',
  'docs/migration.md': 'test/migration/docs.test.ts',
  'docs/monitoring.md': 'test/monitoring/docs.test.ts',
  'docs/webhook-responses.md': 'test/webhooks/docs.test.ts',
  'docs/webhook-rules.md': 'test/webhooks/docs.test.ts',
  'docs/webhooks.md': 'test/webhooks/docs.test.ts',
}

/** Pages about machines, of which no example can run here. */
const NOT_RUN: Record<string, string> = {
  'README.md': 'it starts the service from a checkout: test/cli/up.test.ts',
  'docs/install.md': 'it changes a server: test/deploy checks what it installs',
  'docs/containers.md': 'it needs a container engine: test/hard runs the image',
  'docs/backups.md': 'it changes a server: test/store runs backups and restores',
  'docs/resolvers.md': 'it changes a server',
  'docs/secret-key.md': 'it changes a server: test/cli and test/store change keys',
  'docs/upgrade.md': 'it changes a server: test/store upgrades databases',
  'docs/cli.md': 'it installs completions and sends mail: test/cli runs the commands',
  'docs/moving.md': 'it moves an installation between machines: test/store runs the commands',
  'docs/reverse-proxy.md': 'it configures proxies: test/http runs them',
}

const pages = ['README.md', ...globSync('docs/**/*.md', { cwd: ROOT })]
  .map((page) => page.replaceAll('\\', '/'))
  .toSorted()
const textOf = (page: string) => readFileSync(join(ROOT, page), 'utf8')
const runHere = pages.filter((page) => !(page in OWN_TESTS) && !(page in NOT_RUN))

describe('the examples of the guide', () => {
  let portreeve: TestService
  let dns: DnsServer
  let lists: Rbldnsd
  let tls: TcpServer
  let folder: string
  beforeAll(async () => {
    ;[dns, lists] = await Promise.all([startDns(), startLists()])
    Object.assign(dns.records, {
      'example.com A': ['127.0.0.1'],
      'example.com NS': ['ns1.example.com'],
      'ns1.example.com A': ['127.0.0.1'],
      'example.com MX': ['10 mail.example.com'],
      'mail.example.com A': ['127.0.0.1'],
      'example.com TXT': ['v=spf1 mx -all'],
      '_dmarc.example.com TXT': ['v=DMARC1; p=none'],
    })
    tls = await startTlsServer(
      makeCertificate({ subject: '/CN=example.com', altNames: ['DNS:example.com'] }),
    )
    portreeve = await startTestService({
      DNS_SERVERS: `${dns.address}:${dns.port}`,
      DNSBL_SERVERS: `${lists.address}:${lists.port}`,
    })
    folder = mkdtempSync(join(tmpdir(), 'portreeve-docs-'))
  })
  afterAll(async () => {
    await portreeve.stop()
    await Promise.all([dns.close(), lists.stop(), tls.close()])
    rmSync(folder, { recursive: true })
  })

  it.each(runHere.filter((page) => examplesIn(textOf(page)).length > 0))(
    'of %s run as pasted',
    { timeout: 60_000 },
    async (page) => {
      const { email, token } = await portreeve.addPerson('Alice', { admin: true, plan: 'pro' })
      writeFileSync(join(folder, 'company.csv'), 'user1,password1,user2,password2\na,b,c,d\n')
      const env = {
        HOME: folder,
        DATABASE_URL: portreeve.databaseUrl,
        DNS_SERVERS: `${dns.address}:${dns.port}`,
        DNSBL_SERVERS: `${lists.address}:${lists.port}`,
        ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
        ABUSEIPDB_KEY: 'a1'.repeat(40),
        PATH: `${process.execPath.replace(/\/[^/]*$/, '')}:/usr/bin:/bin`,
      }
      const shell = startShell(env, folder)
      onTestFinished(() => shell.end())
      await shell.run(apiFunction(portreeve.url, token))
      // A problem that a check finds is no failure of the example.
      const portreeveFunction = `portreeve() { '${process.execPath}' '${join(ROOT, 'bin/portreeve.js')}' "$@" || [ $? = 1 ]; }`
      await shell.run(portreeveFunction)
      for (const block of examplesIn(textOf(page))) {
        if (block.startsWith('export PORTREEVE_URL')) continue
        const code = block
          .replace(/^portreeve\(\) .*$/m, portreeveFunction)
          .replace('http://localhost:8080', portreeve.url)
          .replace('port=443', `port=${tls.port}`)
          .replace(/(?:you|ops)@example\.com/, email)
        await expect(shell.run(code), `${page}: ${block}`).resolves.toBeDefined()
      }
    },
  )

  it('have a test, or say why not', () => {
    for (const page of pages)
      for (const { notRun } of blocksIn(textOf(page)))
        for (const [file] of notRun?.matchAll(/test\/[\w./-]+/g) ?? [])
          expect(existsSync(join(ROOT, file)), `${page}: ${file}`).toBe(true)
    for (const [page, test] of Object.entries(OWN_TESTS)) {
      expect(examplesIn(textOf(page)), page).not.toEqual([])
      expect(textOf(test), test).toContain(page.replace('docs/', ''))
    }
  })

  it('have one name for the token and the address', () => {
    const others = /\$(?:\{)?(?:TOKEN|API_TOKEN|ADMIN_TOKEN|PORTREEVE_API_TOKEN|URL|API)\b/
    for (const page of pages)
      for (const { code } of blocksIn(textOf(page))) expect(code, page).not.toMatch(others)
  })
})
