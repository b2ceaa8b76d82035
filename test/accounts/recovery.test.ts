import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { setEmail } from '../../src/accounts/accounts.ts'
import { createResetLinkFor } from '../../src/accounts/recovery/password-reset.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { startSink, type Sink } from '../servers/mail-sink.ts'
import { cookieOf, ORIGIN, SECRET_KEY, startAccounts, type AccountsTest } from './module.ts'

let database: FreshDatabase
let sink: Sink
let portreeve: AccountsTest

const RESET = '/api/v1/password-reset'

beforeAll(async () => {
  database = await freshDatabase()
  sink = await startSink()
  portreeve = await startAccounts(database.url, { SMTP_URL: sink.url })
})

beforeEach(async () => {
  sink.mails.length = 0
  await portreeve.db.deleteFrom('authRateLimit').execute()
})

afterAll(async () => {
  await portreeve.stop()
  await sink.stop()
  await database.drop()
})

const mailsTo = (email: string) =>
  sink.mails.filter(({ to }) => to?.[0]?.address === email).map(({ text }) => text ?? '')
const tokenIn = (text = '') => /#(\S+)/.exec(text)?.[1] ?? ''
const codeIn = (text = '') => /^(\d{8})$/m.exec(text)?.[1] ?? ''

async function signInStatus(email: string, password: string): Promise<number> {
  const answer = await portreeve.request('/api/auth/sign-in/email', { body: { email, password } })
  return answer.status
}

describe('a forgotten password', () => {
  it('is reset by an emailed link, once, which ends all sessions', async () => {
    const alice = await portreeve.addPerson('Alice')
    const cookie = await portreeve.signIn(alice)
    const asked = await portreeve.request(RESET, { body: { email: 'ALICE@people.test' } })
    expect(asked.status).toBe(200)
    await expect.poll(() => mailsTo(alice.email)).toHaveLength(1)
    const token = tokenIn(mailsTo(alice.email)[0])
    const confirm = (password: string) =>
      portreeve.request(`${RESET}/confirm`, { body: { token, password } })
    // A password that is refused leaves the link valid.
    expect((await confirm('Qwerty12345')).status).toBe(400)
    const changed = await confirm('the new password of Alice')
    expect(changed.status).toBe(200)
    expect(changed.headers.getSetCookie()).toEqual([])
    expect((await portreeve.request('/api/v1/account', { cookie })).status).toBe(401)
    expect((await confirm('yet another password')).status).toBe(403)
    expect(await signInStatus(alice.email, alice.password)).toBe(401)
    expect(await signInStatus(alice.email, 'the new password of Alice')).toBe(200)
    await expect.poll(() => mailsTo(alice.email)[1]).toContain('was changed')
  })

  it('reveals no accounts by response, email or time', async () => {
    const bob = await portreeve.addPerson('Bob')
    const ask = async (email: string) => {
      const start = performance.now()
      const answer = await portreeve.request(RESET, { body: { email } })
      return { body: await answer.json(), steps: Math.round((performance.now() - start) / 500) }
    }
    const known = await ask(bob.email)
    const unknown = await ask('nobody@people.test')
    expect(unknown).toEqual(known)
    await expect.poll(() => mailsTo(bob.email)).toHaveLength(1)
    expect(mailsTo('nobody@people.test')).toEqual([])
  })

  it('counts for the network and the address alike, with and without an account', async () => {
    const proxied = await startAccounts(database.url, {
      SMTP_URL: sink.url,
      TRUSTED_PROXIES: '127.0.0.0/8',
    })
    onTestFinished(() => proxied.stop())
    const { email } = await portreeve.addPerson('Ada')
    const ask = async (address: string, client: string) => {
      const headers = { 'x-forwarded-for': client }
      const answer = await proxied.request(RESET, { body: { email: address }, headers })
      return { status: answer.status, body: await answer.json() }
    }
    const both = async (clientOf: (n: number) => string, count: number) => {
      const one = (address: string, first: number) =>
        Promise.all(Array.from({ length: count }, (_, n) => ask(address, clientOf(first + n))))
      return { known: await one(email, 0), unknown: await one('stranger@people.test', count) }
    }
    // Five a day to one address, from any networks.
    const { known, unknown } = await both((n) => `198.51.100.${n + 1}`, 6)
    const sorted = (answers: { status: number }[]) =>
      answers.map((each) => each.status).toSorted((one, other) => one - other)
    expect(sorted(known)).toEqual([200, 200, 200, 200, 200, 429])
    expect(sorted(unknown)).toEqual(sorted(known))
    await expect.poll(() => mailsTo(email)).toHaveLength(5)
    // Ten an hour for one network, to any addresses.
    const client = '192.0.2.77'
    const asked = Array.from({ length: 10 }, (_, n) => ask(`nobody${n}@people.test`, client))
    expect(sorted(await Promise.all(asked))).toEqual(Array(10).fill(200))
    const { email: another } = await portreeve.addPerson('Ben')
    const refused = await ask(another, client)
    expect(refused).toEqual(await ask('nobody11@people.test', client))
    expect(refused).toMatchObject({
      status: 429,
      body: { error: expect.stringContaining('for your network') as string },
    })
    // What was not sent to anybody uses nothing of the installation’s.
    const { rows } = await database.pool.query(
      `select count(*)::int as count from outgoing_mail where kind = 'password-reset' and is_sent`,
    )
    expect(rows[0].count).toBeLessThan(10)
  })

  it('cannot be reset with a forged link, or one of another installation', async () => {
    const carol = await portreeve.addPerson('Carol')
    const options = { db: portreeve.db, baseUrl: ORIGIN, secretKey: 'another key'.repeat(4) }
    const { link } = await createResetLinkFor(options, carol.email)
    for (const token of ['', 'v1.AAAA', tokenIn(link)]) {
      const body = { token, password: 'the password of an attacker' }
      expect((await portreeve.request(`${RESET}/confirm`, { body })).status).toBe(403)
    }
    expect(await signInStatus(carol.email, carol.password)).toBe(200)
  })

  it('needs the operator where no email is sent', async () => {
    const quiet = await startAccounts(database.url)
    onTestFinished(() => quiet.stop())
    const dora = await portreeve.addPerson('Dora')
    const asked = await quiet.request(RESET, { body: { email: dora.email } })
    expect([asked.status, await asked.json()]).toMatchObject([
      409,
      { error: expect.stringContaining('portreeve user reset-link') as string },
    ])
    const options = { db: quiet.db, baseUrl: ORIGIN, secretKey: SECRET_KEY }
    const { link } = await createResetLinkFor(options, dora.email)
    expect(link.startsWith(`${ORIGIN}/reset-password#`)).toBe(true)
    const body = { token: tokenIn(link), password: 'the new password of Dora' }
    expect((await quiet.request(`${RESET}/confirm`, { body })).status).toBe(200)
    expect(await signInStatus(dora.email, 'the new password of Dora')).toBe(200)
  })
})

describe('a change of the email address', () => {
  it('is confirmed by both addresses', async () => {
    const erin = await portreeve.addPerson('Erin')
    const cookie = await portreeve.signIn(erin)
    const asked = await portreeve.request('/api/v1/account/email', {
      cookie,
      body: { email: 'Erin.New@people.test' },
    })
    const { data } = (await asked.json()) as { data: { state: string } }
    await expect.poll(() => sink.mails).toHaveLength(2)
    const oldCode = codeIn(mailsTo(erin.email)[0])
    const newCode = codeIn(mailsTo('erin.new@people.test')[0])
    const confirm = (given: object) =>
      portreeve.request('/api/v1/account/email/confirm', {
        cookie,
        body: { state: data.state, oldCode, newCode, ...given },
      })
    expect((await confirm({ oldCode: newCode })).status).toBe(400)
    expect((await confirm({ newCode: oldCode })).status).toBe(400)
    expect((await confirm({ state: 'v1.AAAA' })).status).toBe(403)
    const changed = await confirm({})
    expect(await changed.json()).toEqual({ success: true, data: { email: 'erin.new@people.test' } })
    expect((await confirm({})).status).toBe(403)
    expect(await signInStatus('erin.new@people.test', erin.password)).toBe(200)
    expect(await signInStatus(erin.email, erin.password)).toBe(401)
  })

  it('does not reveal or take an address that has an account', async () => {
    const fay = await portreeve.addPerson('Fay')
    const gus = await portreeve.addPerson('Gus')
    const cookie = await portreeve.signIn(fay)
    const body = { email: gus.email }
    const asked = await portreeve.request('/api/v1/account/email', { cookie, body })
    expect(asked.status).toBe(200)
    await expect.poll(() => mailsTo(gus.email)).toHaveLength(1)
    expect(codeIn(mailsTo(gus.email)[0])).toBe('')
    expect(mailsTo(gus.email)[0]).toContain('already has an account')
  })

  it('can be done by an operator', async () => {
    const hal = await portreeve.addPerson('Hal')
    await setEmail(portreeve.db, hal.email, 'Hal.New@people.test')
    expect(await signInStatus('hal.new@people.test', hal.password)).toBe(200)
    const ida = await portreeve.addPerson('Ida')
    await expect(setEmail(portreeve.db, ida.email, 'hal.new@people.test')).rejects.toMatchObject({
      code: 'conflict',
    })
  })
})

describe('a sign-in from a new browser', () => {
  it('is announced by email, once for each browser', async () => {
    const joan = await portreeve.addPerson('Joan')
    const { email, password } = joan
    const signIn = (cookie?: string) =>
      portreeve.request('/api/auth/sign-in/email', {
        body: { email, password },
        headers: { 'user-agent': 'Firefox\u00e9 <b>' },
        ...(cookie && { cookie }),
      })
    // The first sign-in to a new account is its owner's.
    const first = cookieOf((await signIn()).headers)
    await portreeve.db
      .updateTable('account')
      .set({ createdAt: new Date(Date.now() - 86_400_000) })
      .where('id', '=', joan.id)
      .execute()
    await signIn(first)
    expect(mailsTo(email)).toEqual([])
    await signIn()
    await expect.poll(() => mailsTo(email)).toHaveLength(1)
    expect(mailsTo(email)[0]).toContain('127.0.0.1')
    expect(mailsTo(email)[0]).toContain('Firefox? <b>')
  })
})
