import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { configurationPage } from '../scripts/configuration.ts'
import { withGuideUrls, readConfig, SETTINGS } from '../src/config.ts'
import { Fault } from '../src/errors.ts'

function faultOf(env: Record<string, string>): Fault {
  try {
    readConfig(env)
  } catch (error) {
    if (error instanceof Fault) return error
    throw error
  }
  throw new Error('these settings should have been refused')
}

describe('the settings', () => {
  it('work without any variable set', () => {
    const config = readConfig({})
    expect(config).toMatchObject({
      HOST: '127.0.0.1',
      PORT: 8080,
      BASE_URL: 'http://localhost:8080',
      WEBHOOK_BASE_URL: 'http://localhost:8080',
      REPORT_DOMAIN: 'localhost',
      ALLOW_PRIVATE_TARGETS: false,
      SMTP_LISTEN: { address: '127.0.0.1', port: 2525 },
      METRICS_LISTEN: null,
      ROLES: ['web', 'worker', 'smtp'],
    })
    expect(config.DATABASE_URL).toBeUndefined()
  })

  it('name their page among the installed files, because no service shows it', () => {
    const { suggestion = '' } = faultOf({ PORT: 'x' })
    const [, page = ''] = /\((.*)\)$/.exec(suggestion) ?? []
    expect(readFileSync(page, 'utf8')).toContain('# Configuration')
  })

  it('apply to blocklists too, unless those have DNS servers of their own', () => {
    const shared = readConfig({ DNS_SERVERS: '192.0.2.1, [2001:db8::1]:5353' })
    expect(shared.DNSBL_SERVERS).toEqual([
      { address: '192.0.2.1', port: 53 },
      { address: '2001:db8::1', port: 5353 },
    ])
    expect(
      readConfig({ DNS_SERVERS: '192.0.2.1', DNSBL_SERVERS: '127.0.0.1:5390' }).DNSBL_SERVERS,
    ).toEqual([{ address: '127.0.0.1', port: 5390 }])
  })

  it('accept a bare IPv6 address as a resolver on port 53', () => {
    expect(readConfig({ DNS_SERVERS: '2001:db8::53' }).DNS_SERVERS).toEqual([
      { address: '2001:db8::53', port: 53 },
    ])
  })

  it('accept a path of the public URL, which the other URLs share', () => {
    const BASE_URL = 'https://example.com/portreeve/'
    expect(readConfig({ BASE_URL })).toMatchObject({
      BASE_URL: 'https://example.com/portreeve',
      REPORTS_URL: 'https://example.com/portreeve',
      WEBHOOK_BASE_URL: 'https://example.com/portreeve',
      REPORT_DOMAIN: 'example.com',
    })
    const others = {
      REPORTS_URL: 'https://reports.example.com/other',
      WEBHOOK_BASE_URL: 'https://hooks.example.com',
    }
    const fault = faultOf({ BASE_URL, ...others })
    expect(fault.details?.map((d) => d.path)).toEqual(['REPORTS_URL'])
    for (const path of ['/a b', '/a%20b', '/a//b', '/?a', '/#a', "/$(id)'"])
      expect(faultOf({ BASE_URL: `https://example.com${path}` }).message).toContain('BASE_URL')
  })

  it('accept the names of containers as resolvers and proxies, and no misspelled address', () => {
    const config = readConfig({ DNS_SERVERS: 'unbound, ns_1:5353', TRUSTED_PROXIES: 'proxy,::1' })
    expect(config.DNS_SERVERS).toEqual([
      { address: 'unbound', port: 53 },
      { address: 'ns_1', port: 5353 },
    ])
    expect(config.TRUSTED_PROXIES.map((one) => typeof one)).toEqual(['string', 'object'])
    for (const wrong of ['192.0.2.300', '1.2.3.4/33', 'a b', 'proxy/24'])
      for (const name of ['DNS_SERVERS', 'TRUSTED_PROXIES'])
        expect(() => readConfig({ [name]: wrong })).toThrow(name)
    expect(() => readConfig({ METRICS_LISTEN: 'proxy:9464' })).toThrow('METRICS_LISTEN')
  })

  it('reject a resolver on port 0', () => {
    expect(faultOf({ DNS_SERVERS: '192.0.2.1:0' }).details?.map((d) => d.path)).toEqual([
      'DNS_SERVERS',
    ])
  })

  it('name everything that is wrong at once', () => {
    const fault = faultOf({
      PORT: '70000',
      SIGNUP: 'maybe',
      BASE_URL: 'portreeve.example',
      TRUSTED_PROXIES: '10.0.0.0/8,x/8',
    })
    expect(fault.details?.map((d) => d.path)).toEqual([
      'PORT',
      'BASE_URL',
      'TRUSTED_PROXIES',
      'SIGNUP',
    ])
  })

  it('are not said to lack a setting that is there and wrong', () => {
    const other = { OAUTH_OTHER_CLIENT_ID: 'portreeve', OAUTH_OTHER_SCOPE: 'openid' }
    const fault = faultOf({ ...other, OAUTH_OTHER_HOSTS: 'a.test', OAUTH_OTHER_ISSUER: 'a.test' })
    expect(fault.details?.map((d) => d.path)).toEqual(['OAUTH_OTHER_ISSUER'])
  })

  it('never repeat a secret that was wrong', () => {
    const fault = faultOf({
      SECRET_KEY: 'hunter2',
      DATABASE_URL: 'mysql://root:hunter2@db/x',
      DNSBL_KEYS: 'hunter2',
    })
    expect(fault.details).toHaveLength(3)
    expect(JSON.stringify([fault.message, fault.details])).not.toContain('hunter2')
  })

  it('accept a folder or a bucket for backups, and explain what is missing', () => {
    expect(readConfig({ BACKUP_ARCHIVE: '/mnt/backup/' }).BACKUP_ARCHIVE).toEqual({
      kind: 'folder',
      path: '/mnt/backup',
    })
    const keys = { BACKUP_S3_ACCESS_KEY_ID: 'id', BACKUP_S3_SECRET_ACCESS_KEY: 'hunter2' }
    const bucket = { ...keys, BACKUP_ARCHIVE: 's3://backups/one/', BACKUP_S3_REGION: 'eu-west-1' }
    expect(readConfig(bucket).BACKUP_ARCHIVE).toEqual({
      kind: 's3',
      bucket: 'backups',
      prefix: 'one',
      endpoint: 'https://s3.eu-west-1.amazonaws.com',
      region: 'eu-west-1',
      accessKeyId: 'id',
      secretAccessKey: 'hunter2',
    })
    const messageOf = (env: Record<string, string>) => faultOf(env).message
    expect(messageOf({ BACKUP_ARCHIVE: 'backup' })).toContain('an absolute path or s3://bucket')
    expect(messageOf({ BACKUP_ARCHIVE: 'gs://backups' })).toContain('s3://bucket/prefix')
    expect(messageOf({ ...keys, BACKUP_ARCHIVE: 's3://backups/../x' })).toContain('prefix')
    expect(messageOf({ BACKUP_ARCHIVE: 's3://backups' })).toContain(
      'BACKUP_S3_SECRET_ACCESS_KEY is required',
    )
    expect(messageOf({ DATA_DIR: '/data', BACKUP_ARCHIVE: '/data/backup' })).toContain(
      'outside DATA_DIR',
    )
    const elsewhere = { DATABASE_URL: 'postgres://db/x', BACKUP_ARCHIVE: '/backup' }
    expect(messageOf(elsewhere)).toContain('supports only the embedded database')
  })

  it('allow several processes only where they serve HTTP', () => {
    expect(readConfig({}).PROCESSES).toBe(1)
    expect(readConfig({ PROCESSES: 'auto' }).PROCESSES).toBeGreaterThan(0)
    expect(faultOf({ PROCESSES: '2', ROLES: 'worker' }).message).toContain('without the role web')
    expect(faultOf({ PROCESSES: '0' }).message).toContain('from 1 to 32')
  })

  it('treat an empty variable as not set', () => {
    expect(readConfig({ PORT: '', HOST: ' ' })).toMatchObject({ PORT: 8080, HOST: '127.0.0.1' })
  })

  it('answer any text with a value or a Fault', () => {
    const names = fc.constantFrom(...Object.keys(SETTINGS))
    fc.assert(
      fc.property(fc.dictionary(names, fc.string()), (env) => {
        try {
          readConfig(env)
        } catch (error) {
          expect(error).toBeInstanceOf(Fault)
        }
      }),
    )
  })

  it('can each come from a file, without the line break at its end', () => {
    const folder = mkdtempSync(join(tmpdir(), 'portreeve-settings-'))
    const fileOf = (name: string, text: string) => {
      writeFileSync(join(folder, name), text)
      return join(folder, name)
    }
    const key = 'k'.repeat(40)
    const from = readConfig({
      SECRET_KEY_FILE: fileOf('key', `${key}\r\n`),
      PORT_FILE: fileOf('port', '9000\n'),
      OAUTH_MICROSOFT_CERTIFICATE_FILES_FILE: fileOf('list', fileOf('pem', 'PEM')),
      DNSBL_FILE: '/lists.json',
    })
    expect([from.SECRET_KEY, from.PORT, from.OAUTH_MICROSOFT_CERTIFICATE_FILES]).toEqual([
      key,
      9000,
      'PEM',
    ])
    expect(from.DNSBL_FILE).toBe('/lists.json')
    expect(faultOf({ SECRET_KEY_FILE: join(folder, 'key'), SECRET_KEY: key }).message).toContain(
      'SECRET_KEY_FILE must not be set together with SECRET_KEY',
    )
    expect(faultOf({ SECRET_KEY_FILE: join(folder, 'none') }).message).toMatch(
      /SECRET_KEY_FILE names a file that cannot be read: ENOENT/,
    )
    expect(faultOf({ SECRET_KEY_FILE: fileOf('empty', '\n') }).message).toContain(
      'SECRET_KEY_FILE names an empty file',
    )
    const wrong = faultOf({ SECRET_KEY_FILE: fileOf('short', 'geheim') }).message
    expect(wrong).toContain('SECRET_KEY_FILE must have at least 32 bytes')
    expect(wrong).not.toContain('geheim')
    rmSync(folder, { recursive: true })
  })

  it('are never named like the file of another one', () => {
    const names = Object.keys(SETTINGS)
    expect(names.filter((name) => names.includes(`${name}_FILE`))).toEqual([])
  })

  it('complete addresses of the guide in messages, and leave other texts alone', () => {
    vi.stubEnv('BASE_URL', 'https://portreeve.example/mail/')
    expect(withGuideUrls('Set it (/docs/guide/scaling.html#capacity).')).toBe(
      'Set it (https://portreeve.example/mail/docs/guide/scaling.html#capacity).',
    )
    vi.unstubAllEnvs()
    expect(withGuideUrls('https://x.example/docs/guide/a.html')).toBe(
      'https://x.example/docs/guide/a.html',
    )
  })

  it('match docs/configuration.md', async () => {
    expect(readFileSync('docs/configuration.md', 'utf8')).toBe(await configurationPage())
  })
})
