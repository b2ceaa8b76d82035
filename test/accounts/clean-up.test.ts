import { afterAll, beforeAll, expect, it } from 'vitest'
import { RETENTION } from '../../src/accounts/accounts-jobs.ts'
import { retentionJobs } from '../../src/jobs/retention-jobs.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { startAccounts, type Person, type AccountsTest } from './module.ts'
import { jobContext } from '../jobs/context.ts'

let database: FreshDatabase
let portreeve: AccountsTest
let alice: Person

beforeAll(async () => {
  database = await freshDatabase()
  portreeve = await startAccounts(database.url)
  alice = await portreeve.addPerson('Alice')
})

afterAll(async () => {
  await portreeve.stop()
  await database.drop()
})

it('deletes expired rows only, and keeps valid sessions', async () => {
  const { db } = database
  const past = new Date(Date.now() - 1000)
  const future = new Date(Date.now() + 60_000)
  await portreeve.signIn(alice)
  await db.updateTable('session').set({ expiresAt: past }).execute()
  const cookie = await portreeve.signIn(alice)
  const verification = { value: 'v', createdAt: past, updatedAt: past }
  await db
    .insertInto('verification')
    .values([
      { ...verification, identifier: 'old', expiresAt: past },
      { ...verification, identifier: 'new', expiresAt: future },
    ])
    .execute()
  const counter = { count: 1, lastRequest: Date.now() - 2 * 24 * 3600 * 1000 }
  await db
    .insertInto('authRateLimit')
    .values([
      { key: 'old', ...counter },
      { ...counter, key: 'new', lastRequest: Date.now() },
    ])
    .execute()

  await retentionJobs(db, RETENTION)[0]?.run({}, jobContext())

  expect(await db.selectFrom('session').select('id').execute()).toHaveLength(1)
  expect(await db.selectFrom('verification').select('identifier').execute()).toEqual([
    { identifier: 'new' },
  ])
  expect(await db.selectFrom('authRateLimit').select('key').execute()).toEqual([{ key: 'new' }])
  expect((await portreeve.request('/api/v1/account', { cookie })).status).toBe(200)
})
