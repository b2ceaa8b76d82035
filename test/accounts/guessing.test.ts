import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { reserveAttempt } from '../../src/accounts/attempts.sql.ts'
import {
  BACKOFF,
  createPasswordThrottle,
  subjects,
} from '../../src/accounts/sign-in/password-throttle.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { cookieOf, SECRET_KEY, startAccounts, type AccountsTest, type Person } from './module.ts'

const SIGN_IN = '/api/auth/sign-in/email'

let database: FreshDatabase
let portreeve: AccountsTest
let other: AccountsTest
let alice: Person

/** Two instances behind a proxy, so that each request may come from a network of its own. */
beforeAll(async () => {
  database = await freshDatabase()
  portreeve = await startAccounts(database.url, { TRUSTED_PROXIES: '127.0.0.0/8' })
  other = await startAccounts(database.url, { TRUSTED_PROXIES: '127.0.0.0/8' })
})

beforeEach(async () => {
  await portreeve.removeEverybody()
  alice = await portreeve.addPerson('Alice')
})

afterAll(async () => {
  await portreeve.stop()
  await other.stop()
  await database.drop()
})

type Try = { email?: string; password?: string; from?: string; cookie?: string; at?: AccountsTest }

const signIn = ({
  email = alice.email,
  password = 'a guess',
  from = '198.51.100.1',
  cookie = '',
  at = portreeve,
}: Try) =>
  at.request(SIGN_IN, { body: { email, password }, cookie, headers: { 'x-forwarded-for': from } })

/**
 * Guesses from a number of networks, alternating between both instances.
 * @returns the response to each
 */
async function guess(times: number, email = alice.email): Promise<number[]> {
  const statuses: number[] = []
  for (let i = 0; i < times; i++) {
    const answer = await signIn({
      email,
      from: `203.0.${i}.7`,
      at: i % 2 === 0 ? portreeve : other,
    })
    statuses.push(answer.status)
  }
  return statuses
}

/** Counts as many wrong passwords as that many guesses, without a request for each. */
async function countWrong(times: number, subject = subjects.email(alice.email)): Promise<void> {
  const throttle = createPasswordThrottle({ db: database.db, secretKey: SECRET_KEY })
  for (let i = 0; i < times; i++)
    await throttle.check(
      subject,
      async () => null,
      () => 'wrong',
    )
}

/** Ends the wait. */
const unblock = () =>
  database.db.updateTable('passwordAttempt').set({ blockedUntil: new Date() }).execute()

describe('guessing the password of one account from many networks', () => {
  it('is throttled after ten, over all instances, with Retry-After', async () => {
    const statuses = await guess(24)
    expect(statuses).toEqual([...Array<number>(10).fill(401), ...Array<number>(14).fill(429)])
    const refused = await signIn({ from: '192.0.2.1' })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(BACKOFF.firstSeconds)
    expect(await refused.json()).toMatchObject({
      code: 'rate_limited',
      error: expect.stringMatching(/in \d+ second/),
    })
  })

  it('is no faster with concurrent requests', async () => {
    const tries = Array.from({ length: 24 }, (_, i) =>
      signIn({ from: `203.0.${i}.7`, at: i % 2 === 0 ? portreeve : other }),
    )
    const statuses = (await Promise.all(tries)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 401)).toHaveLength(10)
    expect(statuses.filter((status) => status === 429)).toHaveLength(14)
  })

  it('does not block an attempt whose transaction began before another attempt ended', async () => {
    const key = randomBytes(32)
    await database.db.transaction().execute(async (transaction) => {
      await sql`select now()`.execute(transaction)
      expect(await reserveAttempt(database.db, key, BACKOFF)).toBe(true)
      expect(await reserveAttempt(transaction, key, BACKOFF)).toBe(true)
    })
  })

  it('doubles the wait each time, up to five minutes', async () => {
    await countWrong(10)
    const waits: number[] = []
    for (let i = 0; i < 7; i++) {
      await unblock()
      expect((await signIn({ from: `192.0.2.${i}` })).status).toBe(401)
      const refused = await signIn({ from: `192.0.2.${100 + i}` })
      waits.push(Number(refused.headers.get('retry-after')))
    }
    // A second or two may have passed.
    const expected = [30, 60, 120, 240, 300, 300, 300]
    waits.forEach((wait, i) =>
      expect(Math.abs(wait - (expected[i] ?? 0)), `wait ${i}: ${wait}`).toBeLessThan(15),
    )
    expect(Math.max(...waits)).toBeLessThanOrEqual(BACKOFF.longestSeconds)
  })

  it('is reset after an hour without a wrong password', async () => {
    await countWrong(10)
    expect(await guess(1)).toEqual([429])
    const long = new Date(Date.now() - 3_700_000)
    await database.db
      .updateTable('passwordAttempt')
      .set({ lastFailedAt: long, blockedUntil: long })
      .execute()
    expect(await guess(1)).toEqual([401])
    await countWrong(9)
    expect(await guess(1)).toEqual([429])
  })

  it('gets the same response for an email without an account', async () => {
    const of = async (email: string) => {
      const refused = await signIn({ email, from: '192.0.2.1' })
      const { error, ...rest } = (await refused.json()) as { error: string }
      return [refused.status, error.replace(/\d+/, 'N'), rest]
    }
    await guess(10, 'nobody@people.test')
    await countWrong(10, subjects.email(alice.email))
    expect(await of('nobody@people.test')).toEqual(await of(alice.email))
  })

  it('does not affect other accounts', async () => {
    const bob = await portreeve.addPerson('Bob')
    await countWrong(10)
    expect(await guess(1)).toEqual([429])
    expect((await signIn({ ...bob, from: '203.0.99.1' })).status).toBe(200)
  })

  it('does not count attempts that were rejected for another reason', async () => {
    for (let i = 0; i < 12; i++) {
      const tooLong = await signIn({ password: 'x'.repeat(200), from: `203.0.${i}.7` })
      expect(tooLong.status).toBe(400)
    }
    expect((await guess(1))[0]).toBe(401)
  })
})

describe('the owner of an account under attack', () => {
  it('can sign in from a known browser in any network', async () => {
    const cookie = cookieOf((await signIn({ ...alice, from: '198.51.100.1' })).headers)
    const device = cookie.split('; ').find((each) => each.startsWith('portreeve.device=')) ?? ''
    await countWrong(10)
    expect(await guess(1)).toEqual([429])
    expect((await signIn({ ...alice, from: '192.0.2.50' })).status).toBe(429)
    expect((await signIn({ ...alice, from: '192.0.2.50', cookie: device, at: other })).status).toBe(
      200,
    )
    // As HTTPS had it before `__Host-`.
    const before = `__Secure-${device}`
    expect((await signIn({ ...alice, from: '192.0.2.52', cookie: before })).status).toBe(200)
    // The cookie does not help guesses at other accounts, nor when it was changed.
    expect((await signIn({ ...alice, from: '192.0.2.51', cookie: `${device}x` })).status).toBe(429)
  })

  it('can sign in from a known network without a cookie', async () => {
    expect((await signIn({ ...alice, from: '2001:db8:1:2::1' })).status).toBe(200)
    await countWrong(10)
    expect(await guess(1)).toEqual([429])
    expect((await signIn({ ...alice, from: '2001:db8:1:2:ffff::9', at: other })).status).toBe(200)
    expect((await signIn({ ...alice, from: '2001:db8:1:3::1' })).status).toBe(429)
  })

  it('gets no exception by a cookie of another account', async () => {
    const bob = await portreeve.addPerson('Bob')
    const cookie = cookieOf((await signIn({ ...bob, from: '198.51.100.1' })).headers)
    await countWrong(10)
    expect(await guess(1)).toEqual([429])
    expect((await signIn({ ...alice, from: '192.0.2.50', cookie })).status).toBe(429)
  })

  it('is throttled when the guesses come from the known browser', async () => {
    const cookie = cookieOf((await signIn({ ...alice, from: '198.51.100.1' })).headers)
    const statuses: number[] = []
    for (let i = 0; i < 12; i++)
      statuses.push((await signIn({ from: `203.0.${i}.7`, cookie })).status)
    expect(statuses).toEqual([...Array<number>(10).fill(401), 429, 429])
  })

  it('has known networks deleted with the account', async () => {
    await signIn({ ...alice })
    await database.db.deleteFrom('account').execute()
    expect(await database.db.selectFrom('knownNetwork').select('hash').execute()).toEqual([])
  })
})

describe('the password prompt within a session', () => {
  // The library lets three changes in ten seconds come from one address.
  let asked = 0
  const questions: [
    string,
    number,
    (password: string, cookie: string, at: AccountsTest) => Promise<Response>,
  ][] = [
    [
      'erase',
      403,
      (password, cookie, at) => at.request('/api/v1/account/erase', { cookie, body: { password } }),
    ],
    [
      'confirm',
      403,
      (password, cookie, at) =>
        at.request('/api/v1/account/reauthenticate', { cookie, body: { password } }),
    ],
    [
      'change',
      400,
      (currentPassword, cookie, at) =>
        at.request('/api/auth/change-password', {
          cookie,
          body: { currentPassword, newPassword: 'a brand new one' },
          headers: { 'x-forwarded-for': `192.0.2.${++asked}` },
        }),
    ],
  ]

  it.each(questions)('cannot be guessed: %s', async (_name, wrong, ask) => {
    const cookie = await portreeve.signIn(alice)
    await countWrong(7, subjects.session(alice.id))
    const statuses: number[] = []
    for (let i = 0; i < 5; i++)
      statuses.push((await ask(`guess ${i}`, cookie, i % 2 === 0 ? portreeve : other)).status)
    expect(statuses).toEqual([wrong, wrong, wrong, 429, 429])
    // The right password is not checked meanwhile either; clients elsewhere cannot cause that.
    expect((await ask(alice.password, cookie, portreeve)).status).toBe(429)
    expect((await signIn({ ...alice })).status).toBe(200)
    await unblock()
    expect((await ask(alice.password, cookie, other)).status).toBe(200)
  })

  it('is counted over all three together', async () => {
    const cookie = await portreeve.signIn(alice)
    await countWrong(7, subjects.session(alice.id))
    for (const [, wrong, ask] of questions)
      expect((await ask('a guess', cookie, portreeve)).status).toBe(wrong)
    for (const [, , ask] of questions)
      expect((await ask(alice.password, cookie, portreeve)).status).toBe(429)
  })

  it('is not blocked by guesses at the sign-in', async () => {
    const cookie = await portreeve.signIn(alice)
    await countWrong(10)
    expect(await guess(1)).toEqual([429])
    const answer = await portreeve.request('/api/v1/account/reauthenticate', {
      cookie,
      body: { password: alice.password },
    })
    expect(answer.status).toBe(200)
  })
})
