import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { openDatabase, type Database } from '../../src/store/database.ts'
import { BASE_URL, CALLBACK } from '../mail-credentials/browser.ts'
import { startDovecot } from '../servers/dovecot.ts'
import { startMailProvider, type MailProviderServer } from '../servers/mail-provider.ts'
import type { MailServer } from '../servers/mail-server.ts'
import { createBrowser } from '../servers/openid-provider.ts'
import { startProxy, type Proxy } from '../servers/proxy.ts'
import { startTestService, type Person, type TestService } from '../service.ts'
import { askAs } from './ask.ts'
import { accountOn, contents, fill, read } from './mailbox.ts'

const PASSWORD = 'the password of the owner'

let provider: MailProviderServer
let from: MailServer
let to: MailServer
let slow: Proxy
let portreeve: TestService
let database: Database
let alice: Person

beforeAll(async () => {
  provider = await startMailProvider(CALLBACK)
  ;[from, to] = await Promise.all([
    startDovecot({ introspectAt: provider.introspectionUrl }),
    startDovecot(),
  ])
  slow = await startProxy(to.port)
  portreeve = await startTestService({ BASE_URL, REQUEST_LIMITS: 'off', ...provider.settings })
  database = openDatabase(portreeve.databaseUrl)
  for (const user of ['alice', 'bob', 'carol', 'dora']) {
    await from.addUser(user, PASSWORD)
    await to.addUser(user, 'secret')
    await fill(accountOn(from.port, user, { password: PASSWORD }), { INBOX: [{}, {}] })
  }
  alice = await portreeve.addPerson('Alice', { plan: 'enterprise' })
})
afterAll(async () => {
  await database.close()
  await portreeve.stop()
  await slow.close()
  await Promise.all([from.stop(), to.stop(), provider.stop()])
})

const ask = (path: string, body?: object, method?: string) =>
  askAs(portreeve, alice, path, body, method)

/** Opens a page, or sends its form, without an account. */
async function visit(url: string, form?: Record<string, string>) {
  const response = await portreeve.request(new URL(url, BASE_URL).pathname, {
    ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    redirect: 'manual',
  })
  const { status, headers } = response
  return { status, text: await response.text(), headers, location: headers.get('location') ?? '' }
}

const server = (port: number) => ({ host: '127.0.0.1', port, secure: false })

const waitFor = (path: string, wanted: object) =>
  vi.waitFor(async () => expect((await ask(`imap/${path}`)).data).toMatchObject(wanted), {
    timeout: 20_000,
    interval: 100,
  })

async function linkOf(path: string, more: object = {}): Promise<string> {
  const { text, data } = await ask(`imap/${path}/owner-links`, { side: 'source', ...more })
  expect(text).toContain('"url"')
  return ([data].flat() as { url: string }[])[0]?.url ?? ''
}

/** @returns the owner’s own page */
async function signInWithPassword(link: string): Promise<string> {
  const { status, location } = await visit(link, { way: 'password', password: PASSWORD })
  expect([status, location]).toEqual([303, expect.stringMatching(/^\/mailbox-access\/[\w-]{43}$/)])
  return location
}

/** @returns the owner’s own page */
async function signInAtProvider(link: string, person: string): Promise<string> {
  provider.state.person = person
  const left = await visit(link, { way: 'provider' })
  const address = (/href="([^"]+)"/.exec(left.text)?.[1] ?? '').replaceAll('&amp;', '&')
  const browser = createBrowser(BASE_URL, portreeve.url)
  browser.setCookies(left.headers.getSetCookie())
  const page = await browser.visit(address)
  expect(page).toMatchObject({ status: 200, path: expect.stringContaining('/mailbox-access/') })
  return page.path
}

async function startWaiting(user: string, port: number, more: object = {}): Promise<string> {
  const { data } = await ask('imap/migrate', {
    source: { ...server(from.port), user, owner: true },
    destination: { ...server(port), user, password: 'secret' },
    folders: [],
    ...more,
  })
  return `migrate/${(data as { migrationId: string }).migrationId}`
}

async function expectCopied(user: string): Promise<void> {
  const here = await read(accountOn(from.port, user, { password: PASSWORD }))
  const there = await read(accountOn(to.port, user))
  expect(contents(there['INBOX'])).toEqual(contents(here['INBOX']))
}

const auditOf = async (text: string) =>
  (await ask(`workspaces/${alice.id}/audit?q=${encodeURIComponent(text)}`)).data as {
    entries: object[]
  }

it('an owner withdraws the permission of a running migration, which then waits for a new sign-in', async () => {
  const migration = await startWaiting('alice', slow.port)
  const link = await linkOf(migration)
  const page = await signInAtProvider(link, 'alice')
  slow.roundTrip = 60_000
  await waitFor(migration, { status: 'running' })

  // Whoever has the link, as its creator does, gets nowhere with it.
  const forms: (Record<string, string> | undefined)[] = [
    undefined,
    {},
    { way: 'password', password: PASSWORD },
  ]
  for (const form of forms) expect((await visit(link, form)).status).toBeGreaterThanOrEqual(400)
  expect((await visit('/mailbox-access/unknown', {})).status).toBe(404)
  const shown = await visit(page)
  expect(shown.text).toContain('Portreeve can sign in to alice')
  expect(shown.headers.get('referrer-policy')).toBe('no-referrer')
  // Reading changes nothing.
  await waitFor(migration, { status: 'running' })

  const withdrawn = await visit(page, {})
  expect([withdrawn.status, withdrawn.text]).toEqual([
    200,
    expect.stringContaining('The permission at Example Mail has ended.'),
  ])
  expect(provider.state.revocations).toBe(1)
  expect((await database.pool.query('select from mail_credential')).rowCount).toBe(0)
  await waitFor(migration, {
    status: 'paused',
    srcSignIn: { waitsForOwner: true, byOwner: false, credentialId: null },
    progress: {
      errors: [
        {
          code: 'sign_in_withdrawn',
          message: expect.stringContaining('The owner of alice on 127.0.0.1 has withdrawn'),
        },
      ],
    },
  })
  expect((await auditOf('Withdraw')).entries).toMatchObject([
    {
      actorId: null,
      actorEmail: 'owner of a mailbox',
      details: { user: 'alice', side: 'source', way: 'provider' },
    },
  ])
  expect((await auditOf('Revoke the permission')).entries).toMatchObject([
    { details: { provider: 'Example Mail', outcome: 'revoked' } },
  ])
  expect((await ask('alerts')).text).toContain('alice has withdrawn the sign-in to the mailbox')
  expect((await ask(`imap/${migration}/owner-links`)).data).toMatchObject([{ state: 'withdrawn' }])
  expect((await visit(page, {})).text).toContain('Your sign-in was withdrawn')
  expect((await auditOf('Withdraw')).entries).toHaveLength(1)

  slow.roundTrip = 0
  slow.cut()
  await signInWithPassword(await linkOf(migration))
  await waitFor(migration, { status: 'completed', errorCount: 0 })
  await expectCopied('alice')
  expect((await visit(page)).status).toBe(404)
}, 60_000)

it('an owner withdraws the password of a synchronization, which keeps that of the other side', async () => {
  const migration = await startWaiting('bob', to.port, { sync: { everyMinutes: 60 } })
  const page = await signInWithPassword(await linkOf(migration))
  await waitFor(migration, { status: 'completed' })
  expect((await visit(page, {})).text).toContain('If others know the password, change it.')
  await waitFor(migration, { status: 'paused', srcSignIn: { waitsForOwner: true } })
  const again = await signInWithPassword(await linkOf(migration))
  await waitFor(migration, { status: 'completed', sync: { passes: 2 } })
  await expectCopied('bob')
  // What has ended stores nothing that could be withdrawn.
  await ask(`imap/${migration}/sync`, undefined, 'DELETE')
  expect((await visit(again)).text).toContain('Portreeve can’t sign in to bob')
  expect((await visit(again, {})).text).toContain('Your sign-in is no longer stored')
}, 60_000)

it('owners withdraw from a batch, each for the own mailbox, even while the provider is away', async () => {
  const created = await ask('imap/batches', {
    name: 'Example Ltd',
    text: 'user,destination_password\ncarol,secret\ndora,secret\n',
    source: { ...server(from.port), owner: true },
    destination: server(to.port),
  })
  const batch = `batches/${(created.data as { batch: { id: string } }).batch.id}`
  await waitFor(batch, { counts: { waiting_for_owner: 2 } })
  const [carol, dora] = (await ask(`imap/${batch}/owner-links`, { side: 'source' })).data as [
    { url: string; mailboxId: string },
    { url: string; mailboxId: string },
  ]
  const pages = {
    carol: await signInWithPassword(carol.url),
    dora: await signInAtProvider(dora.url, 'dora'),
  }
  await waitFor(batch, { counts: { in_sync: 2 } })
  // A new link takes nothing from the owner until it is used.
  await linkOf(batch, { mailboxes: [carol.mailboxId] })
  expect((await visit(pages.carol, {})).text).toContain('What was stored for carol is deleted.')
  provider.state.isAway = true
  expect((await visit(pages.dora, {})).text).toContain('Example Mail did not answer.')
  provider.state.isAway = false
  await waitFor(batch, { counts: { waiting_for_owner: 2 } })
  const mailboxes = await ask(`imap/${batch}/mailboxes`)
  expect(mailboxes.text).toContain('The owner of carol on 127.0.0.1 has withdrawn the sign-in.')
  expect((await database.pool.query('select from mail_credential')).rowCount).toBe(0)
  expect((await database.pool.query('select from migration_secret')).rowCount).toBe(0)
  expect((await ask(`imap/${batch}/start`, { again: true })).data).toMatchObject({ queued: 0 })
  const page = await signInWithPassword(await linkOf(batch, { mailboxes: [carol.mailboxId] }))
  await waitFor(batch, { counts: { in_sync: 1, waiting_for_owner: 1 } })
  await expectCopied('carol')
  expect((await ask(`imap/${batch}/finish`, {})).status).toBe(200)
  expect((await visit(page)).text).toContain('Portreeve can’t sign in to carol')
}, 60_000)
