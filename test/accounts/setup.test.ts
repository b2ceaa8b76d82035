import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { cookieOf, startAccounts, type AccountsTest } from './module.ts'

let database: FreshDatabase
let portreeve: AccountsTest
/** Further instances of one test. */
const others: AccountsTest[] = []

async function open(env: Record<string, string> = {}): Promise<AccountsTest> {
  const opened = await startAccounts(database.url, env)
  others.push(opened)
  return opened
}

beforeAll(async () => {
  database = await freshDatabase()
  portreeve = await startAccounts(database.url)
})

beforeEach(() => portreeve.removeEverybody())

afterEach(async () => {
  for (const each of others.splice(0)) await each.stop()
})

afterAll(async () => {
  await portreeve.stop()
  await database.drop()
})

const tokenOf = async (where: AccountsTest) => (await where.findSetupLink())?.split('#')[1] ?? ''
const person = { email: 'Alice@People.Test', password: 'a long enough password', name: 'Alice' }
const setUp = (where: AccountsTest, token: string, body: object = person) =>
  where.request('/api/v1/setup', { body: { token, ...body } })
const emails = async () =>
  (await database.db.selectFrom('account').select('email').execute()).map(({ email }) => email)

describe('the setup link', () => {
  it('is the same after a restart and in every instance', async () => {
    const link = await portreeve.findSetupLink()
    expect(link).toMatch(/^http:\/\/portreeve\.test\/setup#[A-Za-z0-9_-]{43}$/)
    expect(await (await open()).findSetupLink()).toBe(link)
  })

  it('differs for another database', async () => {
    const before = await portreeve.findSetupLink()
    await database.db
      .updateTable('installation')
      .set({ id: '019a9d2e-7c3b-7f7e-8a51-3c1d9f0b6a11' })
      .execute()
    expect(await portreeve.findSetupLink()).not.toBe(before)
  })

  it('is gone once an account exists', async () => {
    await portreeve.addPerson('Alice')
    expect(await portreeve.findSetupLink()).toBeNull()
  })
})

describe('the setup', () => {
  it('creates an administrator and signs in', async () => {
    const answer = await setUp(portreeve, await tokenOf(portreeve))
    expect([answer.status, await answer.json()]).toMatchObject([
      201,
      {
        success: true,
        data: { email: 'alice@people.test', name: 'Alice', plan: 'enterprise', admin: true },
      },
    ])
    expect(answer.headers.getSetCookie()[0]).toMatch(/HttpOnly.*SameSite=Lax/)
    const me = await portreeve.request('/api/v1/account', { cookie: cookieOf(answer.headers) })
    expect(await me.json()).toMatchObject({
      data: { email: 'alice@people.test', admin: true, via: 'session' },
    })
  })

  it('creates one account for any number of concurrent requests', async () => {
    const other = await open()
    const token = await tokenOf(portreeve)
    const tries = Array.from({ length: 6 }, (_, i) =>
      setUp(i % 2 === 0 ? portreeve : other, token, { ...person, email: `person${i}@people.test` }),
    )
    const statuses = (await Promise.all(tries)).map(({ status }) => status)
    expect(statuses.toSorted((a, b) => a - b)).toEqual([201, 409, 409, 409, 409, 409])
    expect(await emails()).toHaveLength(1)
  })

  it('does not work twice', async () => {
    const token = await tokenOf(portreeve)
    await setUp(portreeve, token)
    const answer = await setUp(portreeve, token, { ...person, email: 'charlie@people.test' })
    expect([answer.status, await answer.json()]).toMatchObject([
      409,
      { success: false, code: 'conflict' },
    ])
    expect(answer.headers.getSetCookie()).toEqual([])
  })

  it('needs the complete token', async () => {
    const token = await tokenOf(portreeve)
    for (const wrong of [
      '',
      token.slice(1),
      `${token}x`,
      token.toLowerCase(),
      'x'.repeat(43),
      "' or '1'='1",
    ]) {
      const answer = await setUp(portreeve, wrong)
      expect([wrong, answer.status]).toEqual([wrong, 403])
    }
    expect(await emails()).toEqual([])
  })

  it('can be repeated after an invalid field', async () => {
    const token = await tokenOf(portreeve)
    expect((await setUp(portreeve, token, { ...person, password: 'short' })).status).toBe(400)
    expect((await setUp(portreeve, token, { ...person, email: 'alice' })).status).toBe(400)
    expect((await setUp(portreeve, token)).status).toBe(201)
  })
})

const service = async (where: AccountsTest) =>
  ((await (await where.request('/api/v1/service')).json()) as { data: object }).data

describe('the public service information', () => {
  it('has the state of setup and sign-up', async () => {
    const data = {
      name: 'Portreeve',
      version: '0.2.0',
      setupNeeded: true,
      signup: false,
      mail: false,
      passwordSignIn: true,
      passkeys: false,
      oidc: null,
    }
    expect(await service(portreeve)).toEqual(data)
    const opened = await open({ SIGNUP: 'open', SMTP_URL: 'smtp://relay.test:25' })
    await setUp(portreeve, await tokenOf(portreeve))
    expect(await service(opened)).toEqual({ ...data, setupNeeded: false, signup: true, mail: true })
  })
})
