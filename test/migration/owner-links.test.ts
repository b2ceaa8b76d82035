import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { decryptPasswords } from '../../src/migration/batches/passwords.ts'
import { listAbandoned } from '../../src/migration/consent/migration-consents.sql.ts'
import { openDatabase, type Database } from '../../src/store/database.ts'
import { BASE_URL, CALLBACK } from '../mail-credentials/browser.ts'
import { startDovecot } from '../servers/dovecot.ts'
import { startMailProvider, type MailProviderServer } from '../servers/mail-provider.ts'
import type { MailServer } from '../servers/mail-server.ts'
import { createBrowser } from '../servers/openid-provider.ts'
import { SERVICE_KEY, startTestService, type Person, type TestService } from '../service.ts'
import { askAs } from './ask.ts'
import { accountOn, contents, fill, read } from './mailbox.ts'

let provider: MailProviderServer
let from: MailServer
let to: MailServer
let portreeve: TestService
let database: Database
let alice: Person
let bob: Person

beforeAll(async () => {
  provider = await startMailProvider(CALLBACK)
  ;[from, to] = await Promise.all([
    startDovecot({ introspectAt: provider.introspectionUrl }),
    startDovecot(),
  ])
  portreeve = await startTestService({ BASE_URL, REQUEST_LIMITS: 'off', ...provider.settings })
  database = openDatabase(portreeve.databaseUrl)
  for (const user of ['alice', 'bob', 'carol', 'dora', 'erin', 'frank']) {
    await from.addUser(user, 'the password of the owner')
    await to.addUser(user, 'secret')
    await fill(accountOn(from.port, user, { password: 'the password of the owner' }), {
      INBOX: [{}, {}],
      Sent: [{}],
    })
  }
  alice = await portreeve.addPerson('Alice', { plan: 'enterprise' })
  bob = await portreeve.addPerson('Bob')
})
afterAll(async () => {
  await database.close()
  await portreeve.stop()
  await Promise.all([from.stop(), to.stop(), provider.stop()])
})

const ask = (path: string, body?: object, method?: string, who = alice) =>
  askAs(portreeve, who, `imap/${path}`, body, method)

/** Opens the page of a link, or sends its form, without an account. */
async function visit(url: string, form?: Record<string, string>) {
  const response = await portreeve.request(new URL(url).pathname, {
    ...(form && { method: 'POST', body: new URLSearchParams(form) }),
  })
  return { status: response.status, text: await response.text(), headers: response.headers }
}

const withPassword = (password: string) => ({ way: 'password', password })
const server = ({ port }: MailServer) => ({ host: '127.0.0.1', port, secure: false })

async function linkOf(path: string, body: object = { side: 'source' }): Promise<string> {
  const { status, text, data } = await ask(`${path}/owner-links`, body)
  expect(status, text).toBe(201)
  return (data as { url: string }).url
}

const waitFor = (path: string, wanted: object) =>
  vi.waitFor(async () => expect((await ask(path)).data).toMatchObject(wanted), {
    timeout: 20_000,
    interval: 100,
  })

async function expectCopied(user: string): Promise<void> {
  const here = await read(accountOn(from.port, user, { password: 'the password of the owner' }))
  const there = await read(accountOn(to.port, user))
  for (const folder of ['INBOX', 'Sent'])
    expect(contents(there[folder])).toEqual(contents(here[folder]))
}

async function startWaiting(user: string): Promise<string> {
  const { status, text, data } = await ask('migrate', {
    source: { ...server(from), user, owner: true },
    destination: { ...server(to), user, password: 'secret' },
    folders: [],
  })
  expect([status, text]).toEqual([201, expect.stringContaining('"paused"')])
  return `migrate/${(data as { migrationId: string }).migrationId}`
}

describe('the link of an owner', () => {
  it('shows who asks for what, takes the password that the mail server accepts, once, and starts the migration', async () => {
    const migration = await startWaiting('alice')
    await waitFor(migration, { status: 'paused', srcSignIn: { waitsForOwner: true } })
    const replaced = await linkOf(migration)
    const url = await linkOf(migration)
    expect((await visit(replaced)).status).toBe(404)
    const page = await visit(url)
    expect(page.status).toBe(200)
    expect(page.text).toContain('Sign in to alice')
    expect(page.text).toContain(
      `${alice.email} (Alice) asks to copy all mail from alice on 127.0.0.1:${from.port} to alice on 127.0.0.1:${to.port}.`,
    )
    expect(page.headers.get('referrer-policy')).toBe('no-referrer')
    const wrong = await visit(url, withPassword('wrong'))
    expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining('role="alert"')])
    expect(await visit(url, withPassword('the password of the owner'))).toMatchObject({
      status: 200,
    })
    expect((await visit(url)).status).toBe(410)
    expect((await visit(url, withPassword('the password of the owner'))).status).toBe(410)
    await waitFor(migration, { status: 'completed', srcSignIn: { byOwner: true } })
    await expectCopied('alice')
    expect((await ask(`${migration}/owner-links`)).data).toMatchObject([
      { side: 'source', state: 'signed_in', user: 'alice' },
    ])
    const audit = await portreeve.request(`/api/v1/workspaces/${alice.id}/audit?q=by+a+link`, {
      token: alice.token,
    })
    expect((await audit.json()) as object).toMatchObject({
      data: {
        entries: [
          {
            actorEmail: 'owner of a mailbox',
            details: { user: 'alice', side: 'source', way: 'password' },
          },
        ],
      },
    })
    const { rows } = await database.pool.query('select to_jsonb(l)::text as row from owner_link l')
    expect(JSON.stringify(rows)).not.toContain(new URL(url).pathname.split('/').at(-1))
  }, 40_000)

  it('is blocked after five rejected passwords, expires, and can be revoked by its workspace', async () => {
    const migration = await startWaiting('bob')
    const blocked = await linkOf(migration)
    for (let attempt = 1; attempt <= 5; attempt += 1)
      expect((await visit(blocked, withPassword('wrong'))).status).toBe(attempt < 5 ? 400 : 410)
    expect((await visit(blocked, withPassword('the password of the owner'))).status).toBe(410)
    expect((await ask(`${migration}/owner-links`)).text).toContain('"blocked"')
    const expired = await linkOf(migration)
    await database.pool.query("update owner_link set expires_at = now() - interval '1 second'")
    expect((await visit(expired)).text).toContain('This link has expired')
    const revoked = await linkOf(migration)
    const [{ id }] = (await ask(`${migration}/owner-links`)).data as [{ id: string }]
    expect((await ask(`${migration}/owner-links`, { side: 'source' }, 'POST', bob)).status).toBe(
      404,
    )
    expect((await ask(`owner-links/${id}`, undefined, 'DELETE', bob)).status).toBe(404)
    expect((await ask(`owner-links/${id}`, undefined, 'DELETE')).status).toBe(200)
    expect((await visit(revoked)).status).toBe(404)
    expect((await visit(`${BASE_URL}/mailbox-sign-in/unknown`)).status).toBe(404)
    expect((await ask(`${migration}/owner-links`, { side: 'destination' })).status).toBe(409)
    await ask(`${migration}/cancel`, {})
  }, 40_000)

  it('continues a migration that failed on its sign-in, and whose passwords were deleted', async () => {
    const started = await ask('migrate', {
      source: { ...server(from), user: 'erin', password: 'wrong' },
      destination: { ...server(to), user: 'erin', password: 'secret' },
      folders: ['INBOX', 'Sent'],
    })
    const migration = `migrate/${(started.data as { migrationId: string }).migrationId}`
    await waitFor(migration, { status: 'failed', progress: { errors: [{ code: 'sign_in' }] } })
    expect((await ask(`${migration}/owner-links`, { side: 'source' })).status).toBe(409)
    const secrets = { source: { owner: true }, destination: { password: 'secret' } }
    expect((await ask(`${migration}/retry`, secrets, 'POST', bob)).status).toBe(404)
    const retried = await ask(`${migration}/retry`, secrets)
    expect([retried.status, retried.data]).toEqual([
      200,
      expect.objectContaining({ status: 'paused', errorCount: 0 }),
    ])
    // It waits as long as a new one, however old it is.
    await database.pool.query("update migration set created_at = now() - interval '60 days'")
    expect(await listAbandoned(database.db)).toEqual([])
    const sync = { everyMinutes: 60, ...secrets, source: { password: 'known' } }
    expect((await ask(`${migration}/sync`, sync, 'PUT')).status).toBe(409)
    const url = await linkOf(migration)
    expect((await visit(url, withPassword('the password of the owner'))).status).toBe(200)
    await waitFor(migration, { status: 'completed', srcSignIn: { byOwner: true } })
    await expectCopied('erin')
  }, 40_000)

  it.each([
    ['source', 'destination'],
    ['destination', 'source'],
  ] as const)(
    'asks the owner of the %s again when the %s changes, and keeps nothing of the sign-in',
    async (side, other) => {
      const passwords = { source: 'the password of the owner', destination: 'secret' }
      const sides = { source: server(from), destination: server(to) }
      const created = await ask('batches', {
        name: `The owner of the ${side}`,
        text: `user\nfrank\n`,
        [side]: { ...sides[side], owner: true },
        [other]: { ...sides[other], password: passwords[other] },
      })
      const batch = `batches/${(created.data as { batch: { id: string } }).batch.id}`
      expect((await ask(`${batch}/pause`, {})).status).toBe(200)
      const newLink = async () => {
        const { data } = await ask(`${batch}/owner-links`, { side })
        return (data as [{ url: string; mailboxId: string }])[0]
      }
      const change = async (id: string, user: string) => {
        const { status, text } = await ask(`${batch}/mailboxes/${id}`, { [other]: { user } }, 'PATCH') // prettier-ignore
        expect(status, text).toBe(200)
      }
      const seen = await newLink()
      expect((await visit(seen.url)).text).toContain(`frank on 127.0.0.1:${sides[other].port}`)
      await change(seen.mailboxId, 'agreed')
      expect((await visit(seen.url, withPassword(passwords[side]))).status).toBe(404)
      const { url, mailboxId } = await newLink()
      const page = await visit(url)
      expect(page.text).toContain(`agreed on 127.0.0.1:${sides[other].port}`)
      expect(page.text).toContain(`It is sent to 127.0.0.1:${sides[side].port}`)
      expect(page.text).toContain('the people who run it can read your password')
      const signedIn = await portreeve.request(new URL(url).pathname, {
        method: 'POST',
        body: new URLSearchParams(withPassword(passwords[side])),
        redirect: 'manual',
      })
      const ownersPage = `${BASE_URL}${signedIn.headers.get('location') ?? ''}`
      expect((await visit(ownersPage)).text).toContain('Portreeve can sign in to frank')
      await change(mailboxId, 'redirected')
      expect((await visit(ownersPage)).text).toContain('Your sign-in is no longer stored')
      await ask(`${batch}/resume`, {})
      await waitFor(batch, { counts: { waiting_for_owner: 1 } })
      const { rows } = await database.pool.query(
        'select sealed from batch_mailbox_secret where mailbox_id = $1',
        [mailboxId],
      )
      const { sealed } = rows[0] as { sealed: string }
      expect(decryptPasswords(sealed, SERVICE_KEY, mailboxId)).toEqual({
        ...passwords,
        [side]: '',
      })
      expect((await ask(batch, undefined, 'DELETE')).status).toBe(200)
    },
    40_000,
  )

  it('lets the owners of a batch sign in at the provider or with a password, each for the own mailbox alone', async () => {
    const created = await ask('batches', {
      name: 'Example Ltd',
      text: 'user,destination_password\ncarol,secret\ndora,secret\n',
      source: { ...server(from), owner: true },
      destination: server(to),
    })
    const batch = `batches/${(created.data as { batch: { id: string } }).batch.id}`
    await waitFor(batch, { counts: { waiting_for_owner: 2 } })
    const links = (await ask(`${batch}/owner-links`, { side: 'source' })).data as {
      user: string
      url: string
      mailboxId: string
    }[]
    expect(links.map(({ user }) => user)).toEqual(['carol', 'dora'])
    const [carol, dora] = links as [(typeof links)[0], (typeof links)[0]]
    provider.state.person = 'carol'
    const left = await visit(carol.url, { way: 'provider' })
    const address = (/href="([^"]+)"/.exec(left.text)?.[1] ?? '').replaceAll('&amp;', '&')
    expect(left.text).toContain('Continue at Example Mail')
    const cookies = left.headers.getSetCookie()
    expect(cookies[0]).toContain('HttpOnly; SameSite=Lax')
    // Another browser must not complete it.
    expect((await createBrowser(BASE_URL, portreeve.url).visit(address)).status).toBe(400)
    const browser = createBrowser(BASE_URL, portreeve.url)
    browser.setCookies(cookies)
    expect((await browser.visit(address)).status).toBe(200)
    await waitFor(batch, { counts: { in_sync: 1, waiting_for_owner: 1 } })
    await expectCopied('carol')
    // The permission of another person does not open the mailbox.
    provider.state.person = 'alice'
    const other = await visit(dora.url, { way: 'provider' })
    const window = createBrowser(BASE_URL, portreeve.url)
    window.setCookies(other.headers.getSetCookie())
    const wrong = (/href="([^"]+)"/.exec(other.text)?.[1] ?? '').replaceAll('&amp;', '&')
    expect((await window.visit(wrong)).status).toBe(400)
    expect((await visit(dora.url, withPassword('the password of the owner'))).status).toBe(200)
    await waitFor(batch, { counts: { in_sync: 2 } })
    // Neither permission nor password can be used for anything else.
    expect((await ask('credentials')).data).toEqual([])
    const { rows } = await database.pool.query('select id from mail_credential where is_owners')
    const { id: credentialId } = rows[0] as { id: string }
    const stolen = await ask('test-connection', { ...server(from), user: 'carol', credentialId })
    expect(stolen.status).toBe(404)
    await database.pool.query('update batch_mailbox set verified = false')
    // The permission of carol was for the destination that she saw.
    const moved = { destination: { user: 'else' } }
    expect((await ask(`${batch}/mailboxes/${carol.mailboxId}`, moved, 'PATCH')).status).toBe(200)
    expect((await database.pool.query('select from mail_credential')).rowCount).toBe(0)
    await ask(`${batch}/mailboxes/${dora.mailboxId}`, { source: { port: 993 } }, 'PATCH')
    expect((await ask(`${batch}/mailboxes?state=waiting_for_owner`)).text).toContain(
      '"user":"dora"',
    )
    expect((await ask(`${batch}/finish`, {})).status).toBe(200)
    expect((await database.pool.query('select from mail_credential')).rowCount).toBe(0)
  }, 60_000)
})
