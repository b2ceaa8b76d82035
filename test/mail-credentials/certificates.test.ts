import { createPublicKey, generateKeyPairSync, X509Certificate } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { jwtVerify } from 'jose'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { readValidCertificate } from '../../src/mail-credentials/clients/client-certificate.ts'
import { createOAuthClient } from '../../src/mail-credentials/oauth-client.ts'
import { configuredProviders } from '../../src/mail-credentials/providers.ts'
import { openDatabase, type Database } from '../../src/store/database.ts'
import { runPortreeve } from '../cli/command.ts'
import { accountOn, contents, fill, read } from '../migration/mailbox.ts'
import { makeCertificate } from '../servers/certificates.ts'
import { startDovecot } from '../servers/dovecot.ts'
import { CERTIFIED, startMailProvider, type MailProviderServer } from '../servers/mail-provider.ts'
import type { MailServer } from '../servers/mail-server.ts'
import { startTestService, type TestService } from '../service.ts'
import { BASE_URL, CALLBACK, signedInBrowser, type MailBrowser } from './browser.ts'

const subject = '/CN=portreeve.test'
const made = makeCertificate({ subject, key: 'rsa2048', to: 20 })
const other = makeCertificate({ subject, key: 'rsa2048' })
const expired = makeCertificate({ subject, key: 'rsa2048', from: -90, to: -2 })
const PEM = made.cert + made.key
const thumbprint = new X509Certificate(made.cert).fingerprint.replaceAll(':', '')

let provider: MailProviderServer
let from: MailServer
let to: MailServer
let portreeve: TestService
let database: Database
let ines: MailBrowser

beforeAll(async () => {
  provider = await startMailProvider(CALLBACK, { certificate: made.cert })
  ;[from, to] = await Promise.all([
    startDovecot({
      introspectAt: provider.introspectionUrl,
      userAttributes: ['sub', 'mailbox1', 'mailbox2'],
    }),
    startDovecot(),
  ])
  const {
    OAUTH_OTHER_CLIENT_ID: _id,
    OAUTH_OTHER_CLIENT_SECRET: _secret,
    ...settings
  } = provider.settings
  portreeve = await startTestService({ BASE_URL, REQUEST_LIMITS: 'off', ...settings })
  database = openDatabase(portreeve.databaseUrl)
  await from.addUser('alice', 'secret')
  for (const user of ['alice', 'alice2', 'alice3']) await to.addUser(user, 'secret')
  await fill(accountOn(from.port), { INBOX: [{}, {}] })
  ines = await signedInBrowser(
    portreeve,
    await portreeve.addPerson('Ines', { admin: true, plan: 'enterprise' }),
  )
})
afterAll(async () => {
  await database.close()
  await portreeve.stop()
  await Promise.all([from.stop(), to.stop(), provider.stop()])
})

async function set(body: object, name = 'other') {
  const response = await portreeve.request(`/api/v1/imap/oauth/clients/${name}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json', origin: BASE_URL, cookie: ines.cookie() },
    body: JSON.stringify(body),
  })
  return { status: response.status, text: await response.text() }
}

async function startMigration(credentialId: string, user: string): Promise<string> {
  const { json, text } = await ines.ask('migrate', {
    source: { host: '127.0.0.1', port: from.port, secure: false, user: 'alice', credentialId },
    destination: { host: '127.0.0.1', port: to.port, secure: false, user, password: 'secret' },
    folders: ['INBOX'],
  })
  expect(text).toContain('migrationId')
  return (json as unknown as { migrationId: string }).migrationId
}

const become = (id: string, wanted: object) =>
  vi.waitFor(async () => expect((await ines.ask(`migrate/${id}`)).json).toMatchObject(wanted), {
    timeout: 20_000,
    interval: 100,
  })

const client = async () =>
  ((await ines.ask('oauth/clients')).json.data as { clients: object[] }).clients.at(-1)

it('a certificate is refused with the reason when it cannot be used', async () => {
  const { privateKey: short } = generateKeyPairSync('rsa', { modulusLength: 1024 })
  const { privateKey: curve } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const pkcs8 = { type: 'pkcs8', format: 'pem' } as const
  const { privateKey: locked } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { ...pkcs8, cipher: 'aes-256-cbc', passphrase: 'x' },
  })
  const { privateKey: lockedPkcs1 } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' },
  })
  const refusals: [string, string][] = [
    ['no PEM', 'has no private key'],
    [made.key, 'has no certificate'],
    [made.cert, 'has no private key'],
    [PEM + other.key, 'has several private keys'],
    [other.cert + made.key, 'do not belong together'],
    [made.cert + locked, 'with a passphrase'],
    [lockedPkcs1 + made.cert, 'with a passphrase'],
    [made.cert + curve.export(pkcs8).toString(), 'must be an RSA key'],
    [made.cert + short.export(pkcs8).toString(), 'fewer than 2048 bits'],
    [made.key.replaceAll(/[A-Z]/g, 'A') + made.cert, 'PRIVATE KEY'],
    [expired.cert + expired.key, 'expired on'],
  ]
  for (const [clientCertificate, words] of refusals) {
    const { status, text } = await set({ clientId: CERTIFIED.client, clientCertificate })
    expect([status, text]).toEqual([400, expect.stringContaining(words)])
    expect(text).toContain('clientCertificate')
  }
  const both = { clientId: 'x', clientSecret: 'x', clientCertificate: PEM }
  expect((await set(both)).text).toContain('not both')
  expect((await set({ clientId: 'x', clientCertificate: PEM }, 'google')).text).toContain(
    'for microsoft and other only',
  )
  // Certificates of the chain and the order do not matter.
  expect(readValidCertificate(made.key + other.cert + made.cert, 'pem').certificate).toBe(made.cert)
})

it('people sign in with a client that has a certificate, whose key is shown to nobody and which is reported before it expires', async () => {
  const entered = await set({ clientId: CERTIFIED.client, clientCertificate: PEM })
  expect(entered.status, entered.text).toBe(200)
  expect(await client()).toMatchObject({
    hasSecret: false,
    acceptsCertificate: true,
    certificate: { state: 'expiring', thumbprint },
  })
  const { rows } = await database.pool.query('select to_jsonb(c)::text as row from mail_client c')
  for (const shown of [entered.text, JSON.stringify(rows)]) expect(shown).not.toContain('PRIVATE')
  // The same client keeps it.
  expect((await set({ clientId: CERTIFIED.client })).text).toContain(thumbprint)

  const { state, credential, problem } = await ines.consent()
  expect([state, problem]).toEqual(['granted', null])
  expect(provider.state.assertions.at(-1)).toEqual({
    alg: 'PS256',
    typ: 'JWT',
    x5t: Buffer.from(thumbprint, 'hex').toString('base64url'),
    'x5t#S256': Buffer.from(
      new X509Certificate(made.cert).fingerprint256.replaceAll(':', ''),
      'hex',
    ).toString('base64url'),
  })
  await database.pool.query('update mail_credential set access_expires_at = now()')
  const { refreshes } = provider.state
  await become(await startMigration(credential?.id ?? '', 'alice'), { status: 'completed' })
  expect(provider.state.refreshes).toBeGreaterThan(refreshes)
  expect(contents((await read(accountOn(to.port)))['INBOX'])).toHaveLength(2)
}, 40_000)

it('an expired certificate pauses what uses it, without asking the provider, until it was replaced', async () => {
  const { credential } = await ines.consent()
  await database.pool.query('update mail_client set certificate = $1', [expired.cert])
  await database.pool.query('update mail_credential set access_expires_at = now()')
  const { length } = provider.state.assertions
  const id = await startMigration(credential?.id ?? '', 'alice2')
  await become(id, { status: 'paused', progress: { errors: [{ code: 'client_rejected' }] } })
  expect(provider.state.assertions).toHaveLength(length)
  expect(await client()).toMatchObject({
    certificate: { state: 'expired' },
    problem: expect.stringMatching(/^The certificate expired on \d{4}-\d\d-\d\d\./),
  })
  await set({ clientId: CERTIFIED.client, clientCertificate: PEM })
  await become(id, { status: 'completed' })
}, 40_000)

it('an application opens mailboxes with a certificate, through the service and in a command', async () => {
  const app = { tenant: 'example.com', clientId: CERTIFIED.app }
  const add = (more: object) =>
    ines.ask('credentials', { provider: 'other', app: { ...app, ...more } })
  const wrong = await add({ clientCertificate: other.cert + other.key })
  expect([wrong.status, wrong.text]).toEqual([
    422,
    expect.stringContaining('doesn’t accept the certificate of the application'),
  ])
  expect((await add({ clientCertificate: PEM, clientSecret: 'x' })).status).toBe(400)
  const added = await add({ clientCertificate: PEM })
  expect([added.status, added.text]).toEqual([201, expect.not.stringContaining('PRIVATE')])
  expect(added.json.data).toMatchObject({ certificate: { state: 'expiring', thumbprint } })
  const { id } = added.json.data as { id: string }
  await become(await startMigration(id, 'alice3'), { status: 'completed' })
  await database.pool.query('update mail_client set certificate = $1', [expired.cert])

  const folder = mkdtempSync(join(tmpdir(), 'certificate-'))
  const [good, bad] = [join(folder, 'app.pem'), join(folder, 'expired.pem')]
  writeFileSync(good, PEM)
  writeFileSync(bad, expired.cert + expired.key)
  const command = (file: string) =>
    runPortreeve(
      ['migrate', '--source', `imap://alice@127.0.0.1:${from.port}`, '--destination', `imap://alice@127.0.0.1:${to.port}`, '--source-app', `example.com/${CERTIFIED.app}`, '--source-app-certificate', file, '--all', '--state', folder], // prettier-ignore
      { ...provider.settings, PORTREEVE_DESTINATION_PASSWORD: 'secret' },
    )
  expect((await command(bad)).err).toContain('has a certificate that expired on')
  expect(await command(good)).toMatchObject({ code: 0 })
}, 60_000)

it('Microsoft gets an assertion for its token endpoint, with the certificate of the settings', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'certificate-'))
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const settings = (files: string) => ({
    OAUTH_MICROSOFT_CLIENT_ID: 'm',
    OAUTH_MICROSOFT_TENANT: 'organizations',
    OAUTH_MICROSOFT_CERTIFICATE_FILES: files,
  })
  const files = `${file('tls.crt', made.cert)}, ${file('tls.key', made.key)}`
  const mismatch = settings(`${file('other.crt', other.cert)},${file('tls.key', made.key)}`)
  expect(() => configuredProviders(readConfig(mismatch))).toThrow(
    'OAUTH_MICROSOFT_CERTIFICATE_FILES has a private key and a certificate that do not belong',
  )
  expect(() => readConfig(settings(join(folder, 'none')))).toThrow(/cannot be read/)
  const secret = { ...settings(files), OAUTH_MICROSOFT_CLIENT_SECRET: 'x' }
  expect(() => readConfig(secret)).toThrow(/must not be set together/)

  const [microsoft] = configuredProviders(readConfig(settings(files)))
  if (!microsoft) throw new Error('Microsoft is missing')
  const base = 'https://login.microsoftonline.com/organizations/oauth2/v2.0'
  let sent = new URLSearchParams()
  const oauth = createOAuthClient(microsoft, async (url, { body }) => {
    if (url.endsWith('/openid-configuration'))
      return Response.json({
        issuer: 'https://login.microsoftonline.com/{tenantid}/v2.0',
        token_endpoint: `${base}/token`,
      })
    sent = new URLSearchParams(String(body))
    return Response.json({ access_token: 'new', token_type: 'bearer', expires_in: 3600 })
  })
  expect(await oauth.refresh('old')).toMatchObject({ accessToken: 'new', refreshToken: 'old' })
  expect(sent.get('client_assertion_type')).toContain('jwt-bearer')
  expect(sent.has('client_secret')).toBe(false)
  const { payload, protectedHeader } = await jwtVerify(
    sent.get('client_assertion') ?? '',
    createPublicKey(made.cert),
  )
  expect(payload).toMatchObject({ aud: `${base}/token`, iss: 'm', sub: 'm' })
  expect(protectedHeader['x5t']).toBe(Buffer.from(thumbprint, 'hex').toString('base64url'))
})
