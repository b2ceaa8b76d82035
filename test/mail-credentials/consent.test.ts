import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { createMailCredentialsModule } from '../../src/mail-credentials/module.ts'
import { createResolver } from '../../src/net/dns.ts'
import { openDatabase, type Database } from '../../src/store/database.ts'
import { startMailProvider, type MailProviderServer } from '../servers/mail-provider.ts'
import { SERVICE_KEY, startTestService, type Person, type TestService } from '../service.ts'
import { BASE_URL, CALLBACK, signedInBrowser, type MailBrowser } from './browser.ts'

let provider: MailProviderServer
let portreeve: TestService
let database: Database
let alice: Person
let bob: Person
let browser: MailBrowser

beforeAll(async () => {
  provider = await startMailProvider(CALLBACK)
  portreeve = await startTestService({ BASE_URL, REQUEST_LIMITS: 'off', ...provider.settings })
  database = openDatabase(portreeve.databaseUrl)
  ;[alice, bob] = [await portreeve.addPerson('Alice'), await portreeve.addPerson('Bob')]
  browser = await signedInBrowser(portreeve, alice)
})
afterAll(async () => {
  await database.close()
  await portreeve.stop()
  await provider.stop()
})

function as(subject: string): MailProviderServer['state'] {
  return Object.assign(provider.state, { person: subject, denied: null })
}

/** The whole row of a table as the database has it. */
async function rowsOf(table: string): Promise<string> {
  const { rows } = await database.pool.query(`select to_jsonb(t) as row from ${table} t`)
  return JSON.stringify(rows)
}

describe('a sign-in to a mailbox at its provider', () => {
  it('names the providers that the operator has set up', async () => {
    const { json } = await browser.ask('oauth/providers')
    expect(json.data).toMatchObject({
      providers: [{ id: 'other', name: 'Example Mail', hosts: ['127.0.0.1'], needsUser: false }],
      redirectUri: CALLBACK,
    })
    const google = await browser.ask('oauth/consents', { provider: 'google' })
    expect([google.status, google.text]).toEqual([409, expect.stringContaining('not set up')])
  })

  it('gives a credential whose tokens no answer and no column shows', async () => {
    as('alice')
    const { page, state, credential } = await browser.consent({ provider: 'other', user: 'alice' })
    expect(page.status).toBe(200)
    expect([state, credential]).toMatchObject([
      'granted',
      { account: 'alice@mail.test', state: 'valid' },
    ])
    const { text } = await browser.ask('credentials')
    expect(text).toContain(credential?.id)
    const code = new URL(browser.visited.at(-1) ?? '').searchParams.get('code') ?? ''
    expect(code).not.toBe('')
    const stored = (await rowsOf('mail_credential')) + (await rowsOf('mail_consent'))
    for (const secret of [code, 'refreshToken', 'verifier']) {
      expect(stored).not.toContain(secret)
      expect(text).not.toContain(secret)
    }
    const request = new URL(browser.visited[0] ?? '').searchParams
    expect(Object.fromEntries(request)).toMatchObject({
      code_challenge_method: 'S256',
      login_hint: 'alice',
      redirect_uri: CALLBACK,
    })
  })

  it('accepts an answer once, from the session that began, with a state that it made', async () => {
    as('alice')
    const used = await browser.consent()
    const answer = browser.visited.at(-1) ?? ''
    expect(answer.startsWith(`${CALLBACK}?code=`)).toBe(true)
    expect((await browser.visit(answer)).status).toBe(400)
    const forged = `${CALLBACK}?code=x&state=y`
    expect((await browser.visit(forged)).status).toBe(400)
    expect((await browser.visit(CALLBACK)).status).toBe(400)
    expect(used.state).toBe('granted')
    // Another session of the same person, another person, and a browser without a session.
    for (const other of [alice, bob]) {
      const { id, url } = await browser.start()
      const victim = await signedInBrowser(portreeve, other)
      expect((await victim.visit(url)).status).toBe(400)
      const { json } = await browser.ask(`oauth/consents/${id}`)
      expect(json.data).toMatchObject({ state: 'pending', credential: null })
    }
    const { url } = await browser.start()
    const page = await portreeve.request(`/api/v1/imap/oauth/callback?code=x&state=y`)
    expect([page.status, page.headers.get('content-type')]).toEqual([
      401,
      'text/html; charset=utf-8',
    ])
    expect(await page.text()).toContain(`not signed in at ${BASE_URL}`)
    // Ten minutes later.
    await database.pool.query("update mail_consent set expires_at = now() - interval '1 second'")
    expect((await browser.visit(url)).status).toBe(400)
  })

  it('explains why it failed', async () => {
    as('alice').denied = 'access_denied'
    const denied = await browser.consent()
    expect([denied.page.status, denied.state]).toEqual([400, 'failed'])
    expect(denied.problem).toBe(
      'The access to the mailbox was not allowed at Example Mail. Sign in again and allow it. (access_denied)',
    )
    as('alice')
    const { id, url } = await browser.start()
    const state = new URL(url).searchParams.get('state') ?? ''
    const description = 'AADSTS65001: The user or administrator has not consented <script>'
    const query = new URLSearchParams({
      state,
      iss: provider.issuer,
      error: 'invalid_grant',
      error_description: description,
    })
    expect((await browser.visit(`${CALLBACK}?${query.toString()}`)).status).toBe(400)
    const { json } = await browser.ask(`oauth/consents/${id}`)
    expect(json.data).toMatchObject({
      state: 'failed',
      problem:
        'Your administrator at Example Mail has not approved this service. Ask them to approve it, then sign in again. (AADSTS65001)',
    })
    const approved = await browser.visit(`${CALLBACK}?admin_consent=True&tenant=x`)
    expect(approved.status).toBe(200)
  })

  it('renews the credential of the same person, and no other one', async () => {
    as('carol')
    const first = await browser.consent()
    const again = await browser.consent()
    expect(again.credential?.id).toBe(first.credential?.id)
    as('mallory')
    const credentialId = first.credential?.id ?? ''
    const wrong = await browser.consent({ provider: 'other', credentialId })
    expect(wrong.problem).toBe(
      'You signed in as mallory@mail.test, but this is for carol@mail.test. Sign in again with that account.',
    )
    as('carol')
    const renewed = await browser.consent({ provider: 'other', credentialId })
    expect(renewed).toMatchObject({ state: 'granted', credential: { id: credentialId } })
  })

  it('stays within its workspace, with the rights of a member', async () => {
    as('dora')
    const { credential } = await browser.consent()
    const second = await portreeve.addWorkspace(alice)
    const theirs = await signedInBrowser(portreeve, bob)
    const inSecond = { 'x-workspace': second.id }
    const id = credential?.id ?? ''
    const connection = { host: '127.0.0.1', secure: false, user: 'dora', credentialId: id }
    for (const [who, more] of [
      [theirs, {}],
      [browser, inSecond],
    ] as const) {
      expect((await who.ask('credentials', undefined, more)).text).not.toContain(id)
      const used = await who.ask('test-connection', connection, more)
      expect([used.status, used.text]).toEqual([404, expect.stringContaining('not found')])
      const renewal = { provider: 'other', credentialId: id }
      expect((await who.ask('oauth/consents', renewal, more)).status).toBe(404)
    }
    const given = await browser.consent(undefined, inSecond)
    expect(given.state).toBe('granted')
    expect(given.credential?.id).not.toBe(id)
    expect((await theirs.ask(`oauth/consents/${given.id}`)).status).toBe(404)
    // A removed member completes nothing.
    const member = await portreeve.addMember(alice.id, 'Erin', 'member')
    const removed = await signedInBrowser(portreeve, member)
    const { url } = await removed.start(undefined, { 'x-workspace': alice.id })
    await database.pool.query(
      'delete from membership where account_id = $1 and workspace_id = $2',
      [member.id, alice.id],
    )
    expect((await removed.visit(url)).status).toBe(400)
    const reader = await portreeve.addMember(alice.id, 'Rosa', 'read-only')
    const reading = await signedInBrowser(portreeve, reader)
    const refused = await reading.ask(
      'oauth/consents',
      { provider: 'other' },
      { 'x-workspace': alice.id },
    )
    expect(refused.status).toBe(403)
    const byToken = await portreeve.request('/api/v1/imap/oauth/consents', {
      method: 'POST',
      token: alice.token,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ provider: 'other' }),
    })
    expect(byToken.status).toBe(403)
  })

  it('sends tokens to the servers of the provider only', async () => {
    as('alice')
    const { credential } = await browser.consent()
    const connection = { secure: false, user: 'alice', credentialId: credential?.id }
    const elsewhere = await browser.ask('test-connection', { ...connection, host: '127.0.0.2' })
    expect([elsewhere.status, elsewhere.text]).toEqual([
      400,
      expect.stringContaining('is for the servers of Example Mail: 127.0.0.1'),
    ])
  })

  it('is deleted on request', async () => {
    as('fay')
    const { credential } = await browser.consent()
    const remove = () =>
      portreeve.request(`/api/v1/imap/credentials/${credential?.id}`, {
        method: 'DELETE',
        headers: { cookie: browser.cookie(), origin: BASE_URL },
      })
    expect((await remove()).status).toBe(200)
    expect((await remove()).status).toBe(404)
    expect((await browser.ask('credentials')).text).not.toContain(credential?.id)
  })
})

describe('an access token', () => {
  /** What an instance hands to migrations, with its own pool. */
  async function openTokens(credentialId: string) {
    const { db, close } = openDatabase(portreeve.databaseUrl)
    const resolver = createResolver({ servers: [] })
    onTestFinished(async () => {
      resolver.close()
      await close()
    })
    const module = createMailCredentialsModule({
      db,
      secretKey: SERVICE_KEY,
      resolver,
      allowPrivate: true,
      config: readConfig({ BASE_URL, ...provider.settings }),
      isUsed: async () => false,
      isKept: async () => false,
      onProblem: async () => {},
      onClientRejected: async () => {},
      onClientAccepted: async () => {},
    })
    const server = { host: '127.0.0.1', tlsVerify: true, user: 'alice' }
    return module.openTokens({ workspaceId: alice.id, credentialId }, server)
  }

  /** A credential whose access token has so many seconds left of an hour. */
  async function consentOf(subject: string, secondsLeft: number): Promise<string> {
    as(subject)
    const { credential } = await browser.consent()
    const id = credential?.id ?? ''
    await leave(id, secondsLeft)
    return id
  }

  const leave = (id: string, seconds: number, lifetime = 3600) =>
    database.pool.query(
      `update mail_credential set lifetime_seconds = $3,
         access_expires_at = now() + make_interval(secs => $2) where id = $1`,
      [id, seconds, lifetime],
    )

  const stateOf = async (id: string) => {
    const { json } = await browser.ask('credentials')
    return (json.data as { id: string; state: string; problem: string }[]).find(
      (each) => each.id === id,
    )
  }

  it('is refreshed once by several instances, before it expires and when it is rejected', async () => {
    const id = await consentOf('gus', 0)
    const instances = await Promise.all([1, 2, 3].map(() => openTokens(id)))
    const before = provider.state.refreshes
    const ask = (rejected?: string) =>
      Promise.all([...instances, ...instances].map((fresh) => fresh(rejected)))
    const first = new Set(await ask())
    expect([first.size, provider.state.refreshes - before]).toEqual([1, 1])
    const [token] = first
    const second = new Set(await ask(token))
    expect([second.size, second.has(token!), provider.state.refreshes - before]).toEqual([
      1,
      false,
      2,
    ])
    // An hour is left, and then four minutes of it: less than five.
    expect(await ask()).toEqual(Array.from({ length: 6 }, () => [...second][0]))
    await leave(id, 240)
    const third = new Set(await ask())
    expect([third.size, provider.state.refreshes - before]).toEqual([1, 3])
    // Of a token for ten seconds, three may be left.
    await leave(id, 3, 10)
    expect(new Set(await ask())).toEqual(third)
  })

  it('is used while the provider is away, as long as it is valid', async () => {
    const id = await consentOf('hal', 3600)
    const [fresh] = [await openTokens(id)]
    const token = await fresh()
    await leave(id, 60)
    provider.state.isAway = true
    try {
      // A proxy may refuse in its place.
      for (const status of [503, 403]) {
        provider.state.awayStatus = status
        expect(await fresh()).toBe(token)
        await expect(fresh(token)).rejects.toMatchObject({ code: 'upstream_unreachable' })
        expect(await stateOf(id)).toMatchObject({ state: 'valid', problem: null })
      }
    } finally {
      Object.assign(provider.state, { isAway: false, awayStatus: 503 })
    }
    expect(await fresh(token)).not.toBe(token)
  })

  it('ends with the permission, until the person signs in again', async () => {
    const id = await consentOf('ida', 0)
    await provider.revokeAll()
    const [one, other] = await Promise.all([openTokens(id), openTokens(id)])
    for (const fresh of [one, other])
      await expect(fresh()).rejects.toThrow(
        /ida@mail.test: The permission at Example Mail has ended/,
      )
    expect(await stateOf(id)).toMatchObject({ state: 'consent_needed' })
    as('ida')
    await browser.consent({ provider: 'other', credentialId: id })
    expect(await other()).toBe(await one())
    expect(await stateOf(id)).toMatchObject({ state: 'valid', problem: null })
  })
})
