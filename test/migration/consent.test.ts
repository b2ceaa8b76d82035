import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openDatabase, type Database } from '../../src/store/database.ts'
import {
  BASE_URL,
  CALLBACK,
  signedInBrowser,
  type MailBrowser,
} from '../mail-credentials/browser.ts'
import { startDovecot } from '../servers/dovecot.ts'
import { startMailProvider, type MailProviderServer } from '../servers/mail-provider.ts'
import type { MailServer } from '../servers/mail-server.ts'
import { startProxy, type Proxy } from '../servers/proxy.ts'
import { startTestService, type Person, type TestService } from '../service.ts'
import { accountOn, contents, fill, mail, read } from './mailbox.ts'

describe('a migration with a sign-in at the provider', () => {
  let provider: MailProviderServer
  let from: MailServer
  let to: MailServer
  let line: Proxy
  let portreeve: TestService
  let database: Database
  let alice: Person
  let browser: MailBrowser

  beforeAll(async () => {
    provider = await startMailProvider(CALLBACK, { lifetimeSeconds: 3 })
    const takesTokens = { introspectAt: provider.introspectionUrl }
    ;[from, to] = await Promise.all([startDovecot(takesTokens), startDovecot(takesTokens)])
    portreeve = await startTestService({ BASE_URL, REQUEST_LIMITS: 'off', ...provider.settings })
    line = await startProxy(from.port)
    database = openDatabase(portreeve.databaseUrl)
    for (const [server, user] of [
      [from, 'alice'],
      [to, 'alice'],
      [to, 'bob'],
      [to, 'carol'],
    ] as const)
      await server.addUser(user, 'secret')
    const letters = Array.from({ length: 400 }, () => ({ body: mail(6_000) }))
    await fill(accountOn(from.port), { INBOX: letters, Sent: [{}, {}] })
    alice = await portreeve.addPerson('Alice', { plan: 'enterprise' })
    browser = await signedInBrowser(portreeve, alice)
  })
  afterAll(async () => {
    await database.close()
    await portreeve.stop()
    await line.close()
    await Promise.all([from.stop(), to.stop(), provider.stop()])
  })

  const cut = () => {
    line.roundTrip = 0
    line.cut()
  }
  const at = (port: number, user: string, secret: object) => ({
    host: '127.0.0.1',
    secure: false,
    port,
    user,
    ...secret,
  })

  async function start(source: object, destination: object, more: object = {}) {
    const body = { source, destination, folders: ['INBOX', 'Sent'], ...more }
    const { json, text } = await browser.ask('migrate', body)
    const { migrationId: id } = json as unknown as { migrationId: string }
    expect(id, text).toBeDefined()
    const status = async () => (await browser.ask(`migrate/${id}`)).json
    const becomes = (wanted: object) =>
      vi.waitFor(async () => expect(await status()).toMatchObject(wanted), {
        timeout: 30_000,
        interval: 50,
      })
    return { id, becomes }
  }

  it('refreshes tokens, waits for a new consent, and continues with it (45)', async () => {
    const { credential } = await browser.consent()
    const credentialId = credential?.id ?? ''
    const tested = await browser.ask('list-folders', at(from.port, 'alice', { credentialId }))
    expect(tested.text).toContain('"totalMessages":402')
    line.roundTrip = 500
    const { id, becomes } = await start(
      at(line.port, 'alice', { credentialId }),
      at(to.port, 'bob', { password: 'secret' }),
    )
    await becomes({ status: 'running', progress: { messagesTotal: 402 } })
    // The connection breaks when the token of the consent has expired.
    await database.pool.query('update mail_credential set access_expires_at = now()')
    const { refreshes } = provider.state
    line.cut()
    await vi.waitFor(() => expect(provider.state.refreshes).toBeGreaterThan(refreshes), 10_000)
    const used = await portreeve.request(`/api/v1/imap/credentials/${credentialId}`, {
      method: 'DELETE',
      token: alice.token,
    })
    expect(used.status).toBe(409)
    await provider.revokeAll()
    cut()
    await becomes({
      status: 'paused',
      batchId: null,
      srcSignIn: { credentialId },
      progress: { errors: [{ code: 'consent_needed' }] },
    })
    const alerts = await portreeve.request('/api/v1/alerts', { token: alice.token })
    expect(await alerts.text()).toContain('needs a new sign-in')
    const renewed = await browser.consent({ provider: 'other', credentialId })
    expect(renewed.state).toBe('granted')
    await becomes({ status: 'completed', errorCount: 0, progress: { messagesDone: 402 } })
    const [here, there] = await Promise.all([
      read(accountOn(from.port)),
      read(accountOn(to.port, 'bob')),
    ])
    for (const folder of ['INBOX', 'Sent'])
      expect(contents(there[folder])).toEqual(contents(here[folder]))
    // The tokens are erased with the migration.
    expect((await browser.ask('credentials')).json.data).toEqual([])
    expect(id).toBeDefined()
  }, 60_000)

  it('signs in to both sides, can be stopped while it waits, and retried', async () => {
    const { credential } = await browser.consent()
    const credentialId = credential?.id ?? ''
    await provider.revokeAll()
    const both = [at(from.port, 'alice', { credentialId }), at(to.port, 'alice', { credentialId })]
    const { id, becomes } = await start(both[0]!, both[1]!)
    await becomes({ status: 'paused' })
    expect((await browser.ask(`migrate/${id}/cancel`, {})).status).toBe(200)
    await becomes({ status: 'failed' })
    await browser.consent({ provider: 'other', credentialId })
    await becomes({ status: 'failed' })
    const again = { source: { credentialId }, destination: { credentialId } }
    expect((await browser.ask(`migrate/${id}/retry`, again)).status).toBe(200)
    await becomes({ status: 'completed', errorCount: 0 })
    expect(contents((await read(accountOn(to.port)))['INBOX'])).toHaveLength(400)
  }, 60_000)

  it('keeps the sign-in of a synchronized mailbox until its synchronization ends', async () => {
    const { credential } = await browser.consent()
    const credentialId = credential?.id ?? ''
    const password = { password: 'secret' }
    const { id, becomes } = await start(
      at(from.port, 'alice', { credentialId }),
      at(to.port, 'carol', password),
      { sync: { everyMinutes: 60 } },
    )
    const sync = (method: string, body: object | null = null) =>
      portreeve.request(`/api/v1/imap/migrate/${id}/sync`, {
        method,
        token: alice.token,
        headers: { 'content-type': 'application/json' },
        body: body && JSON.stringify(body),
      })
    await becomes({ status: 'completed', sync: { passes: 1 } })
    await fill(accountOn(from.port), { INBOX: [{ body: 'Subject: later\r\n\r\nText' }] })
    expect((await sync('PUT', { everyMinutes: 30 })).status).toBe(200)
    await becomes({ sync: { passes: 2, lastPass: { changes: { copied: 1 } } } })
    expect((await browser.ask('credentials')).json.data).toHaveLength(1)
    expect((await sync('DELETE')).status).toBe(200)
    expect((await browser.ask('credentials')).json.data).toEqual([])
    expect((await sync('PUT', { everyMinutes: 30 })).status).toBe(400)
    const gone = { everyMinutes: 30, source: { credentialId }, destination: password }
    expect((await sync('PUT', gone)).status).toBe(404)
    const renewed = await browser.consent()
    const source = { credentialId: renewed.credential?.id }
    expect((await sync('PUT', { everyMinutes: 30, source, destination: password })).status).toBe(
      200,
    )
    await becomes({ sync: { passes: 1, lastPass: { error: null } } })
  }, 60_000)
})
