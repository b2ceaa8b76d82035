import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestService, type TestService } from '../service.ts'
import { zip } from '../protocols/reports/reports.ts'
import { startDns, type DnsServer } from '../servers/dns.ts'
import { apiFunction, examplesIn, startShell } from '../shell.ts'
import { aggregate, daysAgo, mailWith, type Row } from './reports.ts'

const ROOT = join(import.meta.dirname, '../..')
const DAYS = 365

let portreeve: TestService
let dns: DnsServer
let folder: string
let smtpPort: number
beforeAll(async () => {
  dns = await startDns()
  smtpPort = await freePort()
  portreeve = await startTestService({
    DNS_SERVERS: `${dns.address}:${dns.port}`,
    REPORT_DOMAIN: 'reports.example.net',
    SMTP_LISTEN: `127.0.0.1:${smtpPort}`,
  })
  folder = mkdtempSync(join(tmpdir(), 'portreeve-docs-'))
  fill(folder)
})
afterAll(async () => {
  await portreeve.stop()
  await dns.close()
  rmSync(folder, { recursive: true })
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

const ROWS: Row[] = [
  { count: 7, selector: 'odd7' },
  { ip: '192.0.2.2', spf: 'fail', selector: 'odd7' },
]
const report = (id: string, days = 1) =>
  aggregate({ domain: 'example.com', id, begin: daysAgo(days), rows: ROWS })

/** The files that the page mentions, a year's reports, and the command. */
function fill(home: string): void {
  const file = (name: string, bytes: string | Buffer) => writeFileSync(join(home, name), bytes)
  file('report.xml.gz', gzipSync(report('mailed')))
  file(
    'monday.zip',
    zip(['a', 'b'].map((name) => ({ name: `${name}.xml`, bytes: Buffer.from(report(name)) }))),
  )
  file('tuesday.eml', mailWith({ attachment: report('tuesday') }))
  mkdirSync(join(home, 'dmarc-archive'))
  for (let day = 1; day <= DAYS; day++)
    file(`dmarc-archive/${day}.xml.gz`, gzipSync(report(`archived-${day}`, day)))
  file('portreeve', `#!/bin/sh\nexec "${process.execPath}" "${ROOT}/bin/portreeve.js" "$@"\n`)
  chmodSync(join(home, 'portreeve'), 0o755)
}

it('runs every command of docs/dmarc.md and docs/dmarc-reports.md with its documented effect', async () => {
  const examples = (page: string) => examplesIn(readFileSync(join(ROOT, 'docs', page), 'utf8'))
  const [register, verify, answer, source, mark, ...others] = examples('dmarc.md')
  const [mail, mailbox, upload, files, rejected, ...more] = examples('dmarc-reports.md')
  expect([...others, ...more]).toEqual([])
  const alice = await portreeve.addPerson('Alice')
  const env = { PATH: `${folder}:/usr/bin:/bin`, HOME: folder, DATABASE_URL: portreeve.databaseUrl }
  const shell = startShell(env, folder)
  const run = (block = 'false') => shell.run(block.replace('--port 2525', `--port ${smtpPort}`))
  const reportsNow = () => run('api GET "/api/v1/dmarc/domains/$ID/reports"')

  await run(apiFunction(portreeve.url, alice.token))
  const { data } = JSON.parse(await run(register)) as {
    data: { reportEmail: string; record: string; dns: { name: string } }
  }
  expect(data.reportEmail).toMatch(/^r\w+@reports\.example\.net$/)
  expect(data.record).toContain(`rua=mailto:${data.reportEmail}`)
  dns.records[`${data.dns.name} TXT`] = [data.record]
  expect(await run(verify)).toContain('"verified":true')

  const sent = await run(mail)
  const arrived = Date.now()
  expect(sent).toMatch(/<- {2}250 /)
  expect(await reportsNow()).toContain('"reportId":"mailed"')
  expect(await run('api GET "/api/v1/dmarc/domains/$ID/summary"')).toContain(
    '"messages":8,"pass":8',
  )
  expect(Date.now() - arrived).toBeLessThan(30_000)

  expect(await run(upload)).toMatch(/"stored":0,"duplicates":1[^]*"stored":3,"duplicates":0/)
  expect(await run(mailbox)).toContain('"moveTo":"Done"')
  expect(await run(files)).toMatch(/365/)
  expect(await reportsNow()).toContain(`"total":${DAYS + 4}`)
  expect(await run(rejected)).toContain('"total":0')
  expect(await run(answer)).toMatch(/"reports":\[[^]*"readiness":[^]*"success":true/)
  expect(await run(source)).toMatch(/"advice":\{"verdict":"forwarder"[^]*"records":\[\]/)
  expect(await run(mark)).toContain('"success":true')
  dns.records['odd7._domainkey.example.com TXT'] = [
    'v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=',
  ]
  const checked = await portreeve.request('/api/v1/dmarc-check?domain=example.com', {
    token: alice.token,
  })
  expect(await checked.text()).toContain('"selector":"odd7","found":true')
  await shell.end()
}, 90_000)
