import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createAccount, setPassword } from '../../src/accounts/accounts.ts'
import { isCommonPassword } from '../../src/accounts/sign-in/common-passwords.ts'
import { hashPassword, verifyPassword } from '../../src/accounts/sign-in/password-hash.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { startAccounts, type AccountsTest } from './module.ts'

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
  beforeEach(async () => {
    database = await freshDatabase()
    portreeve = await startAccounts(database.url, { SIGNUP: 'open' })
  })
  afterEach(async () => {
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
    const hash = await hashPassword(password)
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

describe('hashing', () => {
  it('rejects requests when the queue is full, and recovers afterwards', async () => {
    const many = await Promise.allSettled(
      Array.from({ length: 150 }, () => hashPassword('a long enough password')),
    )
    const refused = many
      .filter((one) => one.status === 'rejected')
      .map(({ reason }) => reason as unknown)
    expect(refused).toHaveLength(88)
    expect(refused[0]).toMatchObject({ code: 'unavailable', retryAfter: 5 })
    const hash = await hashPassword('once more')
    expect(await verifyPassword({ hash, password: 'once more' })).toBe(true)
  }, 180_000)
})
