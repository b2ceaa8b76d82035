import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { openDatabase, type Database } from '../../src/store/database.ts'
import { accountOn, contents, fill, read } from '../migration/mailbox.ts'
import { startDovecot } from '../servers/dovecot.ts'
import {
  MAIL_CLIENT,
  startMailProvider,
  type MailProviderServer,
} from '../servers/mail-provider.ts'
import type { MailServer } from '../servers/mail-server.ts'
import { startTestService, type TestService } from '../service.ts'
import { BASE_URL, CALLBACK, signedInBrowser, type MailBrowser } from './browser.ts'

let provider: MailProviderServer
let from: MailServer
let to: MailServer
let portreeve: TestService
let database: Database
let ines: MailBrowser
let alice: MailBrowser

beforeAll(async () => {
  provider = await startMailProvider(CALLBACK)
  ;[from, to] = await Promise.all([
    startDovecot({ introspectAt: provider.introspectionUrl }),
    startDovecot(),
  ])
  const {
    OAUTH_OTHER_CLIENT_ID: _id,
    OAUTH_OTHER_CLIENT_SECRET: _secret,
    ...settings
  } = provider.settings
  const google = { OAUTH_GOOGLE_CLIENT_ID: 'of-the-environment' }
  portreeve = await startTestService({ BASE_URL, REQUEST_LIMITS: 'off', ...settings, ...google })
  database = openDatabase(portreeve.databaseUrl)
  for (const user of ['alice', 'bob', 'carol']) await to.addUser(user, 'secret')
  await from.addUser('alice', 'secret')
  await fill(accountOn(from.port), { INBOX: [{}, {}] })
  ines = await signedInBrowser(portreeve, await portreeve.addPerson('Ines', { admin: true }))
  alice = await signedInBrowser(
    portreeve,
    await portreeve.addPerson('Alice', { plan: 'enterprise' }),
  )
})
afterAll(async () => {
  await database.close()
  await portreeve.stop()
  await Promise.all([from.stop(), to.stop(), provider.stop()])
})

async function set(name: string, body: object, who = ines) {
  const response = await portreeve.request(`/api/v1/imap/oauth/clients/${name}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json', origin: BASE_URL, cookie: who.cookie() },
    body: JSON.stringify(body),
  })
  return { status: response.status, text: await response.text() }
}

const listed = async () => (await ines.ask('oauth/clients')).json.data as { clients: object[] }

it('a client is entered by an administrator, and its secret is shown to nobody', async () => {
  const client = { clientId: MAIL_CLIENT.id, clientSecret: MAIL_CLIENT.secret }
  expect((await set('other', client, alice)).status).toBe(403)
  expect((await alice.ask('oauth/clients')).status).toBe(403)
  expect((await alice.ask('oauth/consents', { provider: 'other' })).status).toBe(409)
  const entered = await set('other', client)
  expect([entered.status, entered.text]).toEqual([200, expect.not.stringContaining('the-secret')])
  expect((await set('google', client)).text).toContain('is set in the environment')
  const { clients } = await listed()
  expect(clients).toMatchObject([
    { provider: 'google', origin: 'environment', clientId: 'of-the-environment', hasSecret: false },
    { provider: 'microsoft', origin: null, clientId: null },
    { provider: 'yahoo', origin: null },
    { provider: 'fastmail', origin: null },
    {
      provider: 'other',
      origin: 'dashboard',
      clientId: MAIL_CLIENT.id,
      hasSecret: true,
      problem: null,
    },
  ])
  const { rows } = await database.pool.query('select to_jsonb(c)::text as row from mail_client c')
  expect(JSON.stringify(rows)).not.toContain('the-secret')
  // Another client needs its own secret; the same one keeps it.
  expect((await set('other', { clientId: MAIL_CLIENT.id })).text).toContain('"hasSecret":true')
})

it('a client that its provider rejects pauses what uses it, is reported once, and continues when it was corrected', async () => {
  const { credential } = await alice.consent()
  const credentialId = credential?.id ?? ''
  await set('other', { clientId: MAIL_CLIENT.id, clientSecret: 'wrong' })
  await database.pool.query(
    "update mail_credential set access_expires_at = now() - interval '1 hour'",
  )
  // At the same time: once the client is rejected, no further migration is accepted with it.
  const started = await Promise.all(
    ['alice', 'bob'].map(async (user) => {
      const { json } = await alice.ask('migrate', {
        source: { host: '127.0.0.1', port: from.port, secure: false, user: 'alice', credentialId },
        destination: { host: '127.0.0.1', port: to.port, secure: false, user, password: 'secret' },
        folders: ['INBOX'],
      })
      return (json as unknown as { migrationId: string }).migrationId
    }),
  )
  const become = (wanted: object) =>
    vi.waitFor(
      async () => {
        for (const id of started)
          expect((await alice.ask(`migrate/${id}`)).json).toMatchObject(wanted)
      },
      { timeout: 20_000, interval: 100 },
    )
  await become({ status: 'paused', progress: { errors: [{ code: 'client_rejected' }] } })
  const alerts = async () => {
    const answer = await portreeve.request('/api/v1/alerts', {
      headers: { cookie: alice.cookie() },
    })
    return answer.text()
  }
  expect((await alerts()).match(/Example Mail rejects this service/g)).toHaveLength(1)
  expect((await listed()).clients.at(-1)).toMatchObject({
    problem: expect.stringContaining('rejects the client ID, secret or certificate'),
  })
  const corrected = { clientId: MAIL_CLIENT.id, clientSecret: MAIL_CLIENT.secret }
  expect((await set('other', corrected)).status).toBe(200)
  await become({ status: 'completed' })
  expect(await alerts()).toContain('Example Mail accepts this service again')
  for (const user of ['alice', 'bob'])
    expect(contents((await read(accountOn(to.port, user)))['INBOX'])).toHaveLength(2)
}, 60_000)
