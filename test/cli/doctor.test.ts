import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startDns, type DnsServer } from '../servers/dns.ts'
import { runInProcess, runPortreeve } from './command.ts'

type Finding = { about: string; state: string; sentence: string }

let folder: string
let dns: DnsServer
/** A program that closes each connection at once. */
let stranger: Server

const today = () => new Date().toISOString().slice(0, 10).replaceAll('-', '')

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'portreeve-doctor-'))
  dns = await startDns({ records: { '. SOA': [`a b ${today()}00 1 1 1 1`] } })
  stranger = createServer((socket) => socket.destroy())
  await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  stranger.close()
  await dns.close()
  rmSync(folder, { recursive: true, force: true })
})

const strangerPort = () => (stranger.address() as AddressInfo).port

async function examine(env: Record<string, string>): Promise<Finding[]> {
  const { out } = await runInProcess(['doctor', '--json'], {
    DATA_DIR: join(folder, 'data'),
    DNS_SERVERS: `127.0.0.1:${dns.port}`,
    PORT: '0',
    SMTP_LISTEN: 'off',
    ...env,
  })
  return JSON.parse(out).data
}

const about = (findings: Finding[], name: string) => findings.filter((each) => each.about === name)

describe('portreeve doctor', () => {
  it.each(['/sys/portreeve', '/proc/portreeve', '/dev/null/portreeve'])(
    'finds that %s can be no data folder',
    async (path) => {
      const [finding] = about(await examine({ DATA_DIR: path }), 'data')
      expect(finding).toMatchObject({ state: 'bad', sentence: expect.stringContaining(path) })
      expect(finding?.sentence).toMatch(/cannot be created: .* Make the user .* its owner/)
    },
  )

  it('finds a certificate that does not exist, and one without its key', async () => {
    const env = { SMTP_LISTEN: '127.0.0.1:0', SMTP_TLS_CERT: '/nowhere.pem' }
    expect(about(await examine(env), 'STARTTLS')).toMatchObject([{ state: 'bad' }])
    const both = await examine({ ...env, SMTP_TLS_KEY: '/nowhere.pem' })
    expect(about(both, 'STARTTLS')).toMatchObject([
      { state: 'bad', sentence: expect.stringMatching(/\/nowhere\.pem.*Correct SMTP_TLS_CERT/) },
    ])
  })

  it.each(['METRICS_LISTEN', 'SMTP_LISTEN', 'PORT'])(
    'names the program that uses the port of %s, and the setting',
    async (setting) => {
      const port = strangerPort()
      const value = setting === 'PORT' ? `${port}` : `127.0.0.1:${port}`
      const findings = about(await examine({ [setting]: value }), `port ${port}`)
      expect(findings).toMatchObject([{ state: 'bad' }])
      expect(findings[0]?.sentence).toContain(
        `(process ${process.pid}). Stop it, or set ${setting}`,
      )
    },
  )

  it('finds an address of another machine', async () => {
    const [finding] = about(await examine({ METRICS_LISTEN: '192.0.2.1:9464' }), 'port 9464')
    expect(finding).toMatchObject({
      state: 'bad',
      sentence: expect.stringMatching(/METRICS_LISTEN/),
    })
  })

  it.each([
    ['0.0.0.0/0', 'bad'],
    ['10.0.0.0/8,::/0', 'bad'],
    ['10.0.0.0/8', 'good'],
    ['', 'doubtful'],
  ])('judges TRUSTED_PROXIES=%s as %s', async (networks, state) => {
    const env = { TRUSTED_PROXIES: networks, BASE_URL: 'https://portreeve.example.com' }
    expect(about(await examine(env), 'proxies')).toMatchObject([{ state }])
  })

  it('checks the way of report mail', async () => {
    const listen = { SMTP_LISTEN: '127.0.0.1:0' }
    const none = about(await examine(listen), 'reports')
    expect(none).toMatchObject([
      { state: 'doubtful', sentence: expect.stringMatching(/localhost.*Set REPORT_DOMAIN/) },
    ])
    const env = { ...listen, REPORT_DOMAIN: 'reports.example.com' }
    dns.records['reports.example.com A'] = ['192.0.2.1']
    expect(about(await examine(env), 'reports')).toMatchObject([{ state: 'doubtful' }])
    dns.records['reports.example.com MX'] = ['10 mx.example.com']
    expect(about(await examine(env), 'reports')).toEqual([
      {
        about: 'reports',
        state: 'good',
        sentence: 'Mail for reports.example.com goes to mx.example.com.',
      },
    ])
  })

  it('does not ask BASE_URL while no service runs', async () => {
    expect(about(await examine({}), 'BASE_URL')).toEqual([])
  })

  it('compares the date with the root zone', async () => {
    expect(about(await examine({}), 'clock')).toMatchObject([{ state: 'good' }])
    dns.records['. SOA'] = ['a b 2020010100 1 1 1 1']
    expect(about(await examine({}), 'clock')).toMatchObject([
      { state: 'bad', sentence: expect.stringMatching(/2020-01-01.*NTP/) },
    ])
  })

  it('names nothing that only a checkout has, and creates nothing', async () => {
    const findings = await examine({})
    for (const { sentence } of findings) expect(sentence).not.toMatch(/\bdocs\/|\.md\b/)
    expect(existsSync(join(folder, 'data'))).toBe(false)
  })
})

describe('portreeve serve', () => {
  it('ends with a sentence where the data folder cannot be created', async () => {
    const env = { DATA_DIR: '/proc/portreeve', PORT: '0', SMTP_LISTEN: 'off' }
    const { code, err } = await runPortreeve(['serve'], env)
    expect([code, err]).toEqual([1, expect.stringMatching(/^Error: .*\/proc\/portreeve.*\n$/)])
  })
})
