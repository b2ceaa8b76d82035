import {
  hashPassword as hashWithLibrary,
  verifyPassword as verifyWithLibrary,
} from 'better-auth/crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createAccount, setPassword } from '../../src/accounts/accounts.ts'
import { isCommonPassword } from '../../src/accounts/sign-in/common-passwords.ts'
import {
  hashPassword,
  PASSWORD_COST,
  verifyPassword,
} from '../../src/accounts/sign-in/password-hash.ts'
import { openDatabase } from '../../src/store/database.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { TEST_PASSWORD_COST } from '../people.ts'
import { startTestService } from '../service.ts'

import { cookieOf, startAccounts, type AccountsTest } from './module.ts'

describe('the common passwords', () => {
  it('are recognized in any case, the short ones too', () => {
    for (const one of [
      '123456',
      '1234567890',
      'qwertyuiop',
      'Password123',
      'Q1W2E3R4T5',
      'MANCHESTER',
      'iloveyou123',
    ]) {
      expect([one, isCommonPassword(one)]).toEqual([one, true])
    }
  })

  it('exclude other passwords and the comments of the file', () => {
    for (const one of [
      '',
      '# ',
      '#',
      'correct horse battery staple',
      'the password of Alice',
      'qwertyuiop 7 geese',
    ]) {
      expect([one, isCommonPassword(one)]).toEqual([one, false])
    }
  })
})

describe('a common password', () => {
  let database: FreshDatabase
  let portreeve: AccountsTest
  beforeAll(async () => {
    database = await freshDatabase()
    portreeve = await startAccounts(database.url, { SIGNUP: 'open' })
  })
  beforeEach(() => portreeve.removeEverybody())
  afterAll(async () => {
    await portreeve.stop()
    await database.drop()
  })

  const password = 'Qwerty12345'
  const says = (path: string) => ({
    details: [{ path, message: expect.stringMatching('most common passwords') }],
  })

  it('is rejected wherever a password is set', async () => {
    const person = { email: 'dora@people.test', password, name: 'Dora' }
    const token = (await portreeve.findSetupLink())?.split('#')[1]
    const setUp = await portreeve.request('/api/v1/setup', { body: { ...person, token } })
    expect([setUp.status, await setUp.json()]).toMatchObject([400, says('password')])

    const alice = await portreeve.addPerson('Alice', { admin: true })
    const cookie = await portreeve.signIn(alice)
    const byAdministrator = await portreeve.request('/api/v1/accounts', { cookie, body: person })
    expect([byAdministrator.status, await byAdministrator.json()]).toMatchObject([
      400,
      says('password'),
    ])
    const signUp = await portreeve.request('/api/auth/sign-up/email', { body: person })
    expect([signUp.status, await signUp.json()]).toMatchObject([400, says('password')])
    const change = { currentPassword: alice.password, newPassword: password }
    const changed = await portreeve.request('/api/auth/change-password', { cookie, body: change })
    expect([changed.status, await changed.json()]).toMatchObject([400, says('newPassword')])
    await expect(createAccount(portreeve.db, { ...person, plan: 'free' })).rejects.toMatchObject(
      says('password'),
    )
    await expect(setPassword(portreeve.db, alice.email, password)).rejects.toMatchObject(
      says('password'),
    )
    expect(await portreeve.signIn(alice)).toContain('session_token')
  })

  it('still works for an existing account', async () => {
    const alice = await portreeve.addPerson('Alice')
    const hash = await hashPassword(password, TEST_PASSWORD_COST)
    await portreeve.db
      .updateTable('credential')
      .set({ password: hash })
      .where('accountId', '=', alice.id)
      .execute()
    const answer = await portreeve.request('/api/auth/sign-in/email', {
      body: { email: alice.email, password },
    })
    expect(answer.status).toBe(200)
  })
})

const OF_USUAL_COST = /^[0-9a-f]{32}:[0-9a-f]{128}$/

describe('hashing', () => {
  it('rejects requests when the queue is full, and recovers afterwards', async () => {
    const many = await Promise.allSettled(
      Array.from({ length: 150 }, () => hashPassword('a long enough password', TEST_PASSWORD_COST)),
    )
    const refused = many
      .filter((one) => one.status === 'rejected')
      .map(({ reason }) => reason as unknown)
    expect(refused).toHaveLength(88)
    expect(refused[0]).toMatchObject({ code: 'unavailable', retryAfter: 5 })
    const hash = await hashPassword('once more', TEST_PASSWORD_COST)
    expect(await verifyPassword({ hash, password: 'once more' })).toBe(true)
  })

  const password = 'Pa\u0301sswort, lang genug'

  it('costs as much as better-auth’s, and is verified by it as by earlier versions', async () => {
    expect(PASSWORD_COST).toBe(16_384)
    const hash = await hashPassword(password)
    expect(hash).toMatch(OF_USUAL_COST)
    expect(await verifyWithLibrary({ hash, password })).toBe(true)
    const old = await hashWithLibrary(password)
    expect(await verifyPassword({ hash: old, password: password.normalize('NFC') })).toBe(true)
    expect(await verifyPassword({ hash: old, password: 'another password' })).toBe(false)
  })

  it('is verified at the cost that the hash names', async () => {
    const hash = await hashPassword(password, 1_024)
    expect(hash).toMatch(/^[0-9a-f]{32}:[0-9a-f]{128}:1024$/)
    expect(await verifyPassword({ hash, password })).toBe(true)
    expect(await verifyPassword({ hash, password: 'another password' })).toBe(false)
    expect(await verifyPassword({ hash: hash.replace(':1024', ':2048'), password })).toBe(false)
    expect(await hashPassword(password, 1_024)).not.toBe(hash)
    for (const broken of ['', 'salt', ':key'])
      await expect(verifyPassword({ hash: broken, password })).rejects.toThrow('invalid')
  })

  it('has that cost in a service without another one, for new and changed passwords', async () => {
    const portreeve = await startTestService({}, undefined, { passwordCost: undefined })
    const database = openDatabase(portreeve.databaseUrl)
    const hashes = async () =>
      (await database.db.selectFrom('credential').select('password').execute()).map(
        (one) => one.password,
      )
    const ask = (path: string, body: object, headers = {}) =>
      portreeve.request(path, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          origin: new URL(portreeve.url).origin,
          ...headers,
        },
        body: JSON.stringify(body),
      })
    const token = portreeve.setupLink.split('#')[1]
    const setUp = await ask('/api/v1/setup', { token, email: 'ada@people.test', password })
    expect([setUp.status, await hashes()]).toEqual([201, [expect.stringMatching(OF_USUAL_COST)]])
    const headers = { cookie: cookieOf(setUp.headers) }
    const change = { currentPassword: password, newPassword: 'another long password' }
    expect((await ask('/api/auth/change-password', change, headers)).status).toBe(200)
    expect(await hashes()).toEqual([expect.stringMatching(OF_USUAL_COST)])
    const [hash] = await hashes()
    expect(await verifyWithLibrary({ hash: hash ?? '', password: change.newPassword })).toBe(true)
    await database.close()
    await portreeve.stop()
  })
})
