import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { startSink, type Sink } from '../servers/mail-sink.ts'
import { startAccounts, type Person, type AccountsTest } from './module.ts'

const SIGN_UP = '/api/auth/sign-up/email'

let database: FreshDatabase
let sink: Sink
let instances: AccountsTest[] = []
let alice: Person

beforeAll(async () => {
  database = await freshDatabase()
  sink = await startSink()
})
afterAll(async () => {
  await sink.stop()
  await database.drop()
})
beforeEach(() => void (sink.mails.length = 0))
afterEach(async () => {
  await instances[0]?.removeEverybody()
  for (const portreeve of instances) await portreeve.stop()
  instances = []
})

async function open(env: Record<string, string> = {}): Promise<AccountsTest> {
  const portreeve = await startAccounts(database.url, {
    SIGNUP: 'open',
    TRUSTED_PROXIES: '127.0.0.0/8',
    ...env,
  })
  if (instances.length === 0) alice = await portreeve.addPerson('Alice')
  instances.push(portreeve)
  return portreeve
}

let asked = 0
const signUp = (
  portreeve: AccountsTest,
  email: string,
  password = 'a long enough password',
  client = `203.0.113.${++asked % 250}`,
) =>
  portreeve.request(SIGN_UP, {
    body: { email, password, name: 'Dora' },
    headers: { 'x-forwarded-for': client },
  })
const signIn = (portreeve: AccountsTest, email: string, password = 'a long enough password') =>
  portreeve.request('/api/auth/sign-in/email', {
    body: { email, password },
    headers: { 'x-forwarded-for': '192.0.2.1' },
  })

/** The visible parts of a response, without the time and the given address. */
async function seen(answer: Response, email: string) {
  const headers = [...answer.headers].filter(([name]) => !['date', 'x-request-id'].includes(name))
  const text = (await answer.text()).replace(email, 'EMAIL')
  return {
    status: answer.status,
    text,
    headers: headers.filter(([name]) => name !== 'content-length'),
  }
}

const linkIn = (text = '') => /\/sign-up#(\S+)/.exec(text)?.[1] ?? ''

describe.each([['without a relay'], ['with a relay']])('open sign-up %s', (which) => {
  const env = (): Record<string, string> => (which === 'with a relay' ? { SMTP_URL: sink.url } : {})

  it('responds the same to addresses with and without an account', async () => {
    const portreeve = await open(env())
    const taken = await seen(await signUp(portreeve, alice.email), alice.email)
    const free = await seen(await signUp(portreeve, 'dora@people.test'), 'dora@people.test')
    expect(taken).toEqual(free)
    expect(taken.status).toBe(200)
    expect((await signIn(portreeve, alice.email, alice.password)).status).toBe(200)
    expect((await signIn(portreeve, alice.email)).status).toBe(401)
  })

  it('responds with the same timing, in steps of half a second', async () => {
    const portreeve = await open(env())
    const times: number[] = []
    for (const email of [alice.email, 'dora@people.test']) {
      const start = performance.now()
      await signUp(portreeve, email)
      times.push(performance.now() - start)
    }
    for (const time of times) expect(time).toBeGreaterThan(490)
  })
})

describe('open sign-up with email', () => {
  it('creates the account with the emailed link, and verifies the address', async () => {
    const portreeve = await open({ SMTP_URL: sink.url })
    await signUp(portreeve, 'Dora@People.test')
    await expect.poll(() => sink.mails).toHaveLength(1)
    expect(sink.mails[0]?.to?.[0]?.address).toBe('dora@people.test')
    expect((await signIn(portreeve, 'dora@people.test')).status).toBe(401)
    const token = linkIn(sink.mails[0]?.text)
    const confirm = (body: object) => portreeve.request('/api/v1/sign-up/confirm', { body })
    expect((await confirm({ token: `${token.slice(0, -4)}AAAA` })).status).toBe(403)
    const made = await confirm({ token })
    expect([made.status, await made.json()]).toMatchObject([
      201,
      { data: { email: 'dora@people.test', name: 'Dora', plan: 'free', admin: false } },
    ])
    expect((await confirm({ token })).status).toBe(409)
    expect((await signIn(portreeve, 'dora@people.test')).status).toBe(200)
    const row = await database.db
      .selectFrom('account')
      .select('emailVerified')
      .where('email', '=', 'dora@people.test')
      .executeTakeFirstOrThrow()
    expect(row.emailVerified).toBe(true)
  })

  it('emails the owner of an existing account', async () => {
    const portreeve = await open({ SMTP_URL: sink.url })
    await signUp(portreeve, alice.email)
    await expect.poll(() => sink.mails).toHaveLength(1)
    expect(sink.mails[0]).toMatchObject({ subject: 'You already have a Portreeve account' })
    expect(linkIn(sink.mails[0]?.text)).toBe('')
  })

  it('sends up to three emails a day to one address, over all networks and instances', async () => {
    const [portreeve, other] = [
      await open({ SMTP_URL: sink.url }),
      await open({ SMTP_URL: sink.url }),
    ]
    const answers: number[] = []
    for (let i = 0; i < 6; i++)
      answers.push((await signUp(i % 2 ? portreeve : other, 'dora@people.test')).status)
    expect(answers).toEqual([200, 200, 200, 429, 429, 429])
    await signUp(portreeve, 'erin@people.test')
    await expect
      .poll(() => sink.mails.map(({ to }) => to?.[0]?.address))
      .toContain('erin@people.test')
    expect(sink.mails.filter(({ to }) => to?.[0]?.address === 'dora@people.test')).toHaveLength(3)
  })

  it('sends few emails for one network, and says so with or without an account', async () => {
    const portreeve = await open({ SMTP_URL: sink.url })
    const from = async (client: string, email: string) => {
      await database.db.deleteFrom('authRateLimit').execute()
      return signUp(portreeve, email, undefined, client)
    }
    const flood = Array.from({ length: 10 }, (_, n) =>
      from(`2001:db8::${n + 1}`, `f${n}@people.test`),
    )
    expect((await Promise.all(flood)).map(({ status }) => status)).toEqual(Array(10).fill(200))
    // At once: both say after how many seconds another attempt may succeed.
    const [refused, taken] = await Promise.all([
      from('2001:db8::ffff', 'dora@people.test'),
      from('2001:db8::fffe', alice.email),
    ])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3_000)
    const { error } = (await refused.clone().json()) as { error: string }
    expect(error).toMatch(
      /^No more sign-up emails are sent for your network for now\. Try again in /,
    )
    expect(await seen(taken, alice.email)).toEqual(await seen(refused, 'dora@people.test'))
    // Another network has its own.
    expect((await from('2001:db8:0:1::1', 'dora@people.test')).status).toBe(200)
    await expect
      .poll(() => sink.mails.map(({ to }) => to?.[0]?.address))
      .toContain('dora@people.test')
    expect(sink.mails).toHaveLength(11)
  })

  it('rejects a link after sign-up was closed', async () => {
    const portreeve = await open({ SMTP_URL: sink.url })
    await signUp(portreeve, 'dora@people.test')
    await expect.poll(() => sink.mails).toHaveLength(1)
    const closed = await open({ SIGNUP: 'closed' })
    const token = linkIn(sink.mails[0]?.text)
    expect((await closed.request('/api/v1/sign-up/confirm', { body: { token } })).status).toBe(403)
  })
})
