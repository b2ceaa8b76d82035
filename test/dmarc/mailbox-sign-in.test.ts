import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { openDatabase, type Database } from '../../src/store/database.ts'
import {
  BASE_URL,
  CALLBACK,
  signedInBrowser,
  type MailBrowser,
} from '../mail-credentials/browser.ts'
import { accountOn, fill } from '../migration/mailbox.ts'
import { startDovecot } from '../servers/dovecot.ts'
import { startMailProvider, type MailProviderServer } from '../servers/mail-provider.ts'
import type { MailServer } from '../servers/mail-server.ts'
import { startTestService, type Person, type TestService } from '../service.ts'

let provider: MailProviderServer
let server: MailServer
let portreeve: TestService
let database: Database
let alice: Person
let browser: MailBrowser

beforeAll(async () => {
  provider = await startMailProvider(CALLBACK)
  server = await startDovecot({ introspectAt: provider.introspectionUrl })
  portreeve = await startTestService({ BASE_URL, REQUEST_LIMITS: 'off', ...provider.settings })
  database = openDatabase(portreeve.databaseUrl)
  await server.addUser('alice', 'secret')
  await fill(accountOn(server.port), { INBOX: [{}, {}] })
  alice = await portreeve.addPerson('Alice')
  browser = await signedInBrowser(portreeve, alice)
})
afterAll(async () => {
  await database.close()
  await portreeve.stop()
  await Promise.all([server.stop(), provider.stop()])
})

async function ask(path: string, body?: object, method = body ? 'POST' : 'GET') {
  const response = await portreeve.request(`/api/v1/${path}`, {
    method,
    token: alice.token,
    headers: body ? { 'content-type': 'application/json' } : {},
    body: body ? JSON.stringify(body) : null,
  })
  const { data } = (await response.clone().json()) as { data?: never }
  return { status: response.status, text: await response.text(), data: data as never }
}

const becomes = (wanted: object) =>
  vi.waitFor(async () => expect((await ask('dmarc/mailboxes')).data).toMatchObject([wanted]), {
    timeout: 20_000,
    interval: 100,
  })

it('a report mailbox is read with a sign-in at the provider, waits when that ends, and continues with a new one', async () => {
  const { credential } = await browser.consent()
  const credentialId = credential?.id ?? ''
  const mailbox = {
    host: '127.0.0.1',
    port: server.port,
    secure: false,
    user: 'alice',
    folder: 'INBOX',
  }
  expect(
    (await ask('dmarc/mailboxes', { ...mailbox, host: 'imap.example.com', credentialId })).status,
  ).toBe(400)
  const added = await ask('dmarc/mailboxes', { ...mailbox, credentialId })
  expect([added.status, added.data]).toEqual([201, expect.objectContaining({ credentialId })])
  const { id } = added.data as { id: string }
  await becomes({ totalMessages: 2, needsSignIn: false, lastError: null })
  // It is kept for as long as the mailbox, and cannot be deleted.
  expect((await ask(`imap/credentials/${credentialId}`, undefined, 'DELETE')).status).toBe(409)
  await provider.revokeAll()
  await database.pool.query('update mail_credential set access_expires_at = now()')
  expect((await ask(`dmarc/mailboxes/${id}/fetch`, {})).status).toBe(200)
  await becomes({ needsSignIn: true, lastError: expect.stringContaining('has ended') })
  await vi.waitFor(async () =>
    expect((await ask('alerts')).text).toContain('The report mailbox alice needs a new sign-in'),
  )
  await fill(accountOn(server.port), { INBOX: [{}] })
  expect((await browser.consent({ provider: 'other', credentialId })).state).toBe('granted')
  await becomes({ totalMessages: 3, needsSignIn: false, lastError: null, failingSince: null })
  await vi.waitFor(async () => expect((await ask('alerts')).text).toContain('can be read again'))
  expect((await ask(`dmarc/mailboxes/${id}`, undefined, 'DELETE')).status).toBe(200)
  const { rows } = await database.pool.query('select is_held from mail_credential')
  expect(rows).toEqual([{ is_held: false }])
}, 60_000)
