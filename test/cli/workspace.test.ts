import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startAccounts, type AccountsTest, type Person } from '../accounts/module.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { runInProcess, runPortreeve } from './command.ts'

let database: FreshDatabase
let portreeve: AccountsTest
let alice: Person
let bob: Person

beforeAll(async () => {
  database = await freshDatabase()
  portreeve = await startAccounts(database.url)
  alice = await portreeve.addPerson('Alice')
  bob = await portreeve.addPerson('Bob')
})
afterAll(async () => {
  await portreeve.stop()
  await database.drop()
})

const settings = () => ({ DATABASE_URL: database.url })
const run = (...words: string[]) => runInProcess(['workspace', ...words], settings())

describe('portreeve workspace', () => {
  it('manages a workspace from its creation to its deletion', async () => {
    const made = await runPortreeve(
      ['workspace', 'create', 'Example Hosting', alice.email, 'pro', '--json'],
      settings(),
    )
    expect(made).toMatchObject({ code: 0, err: '' })
    const { id } = (JSON.parse(made.out) as { data: { id: string } }).data
    const steps = [
      ['rename', id, 'Example'],
      ['add-member', id, bob.email, 'admin'],
      ['set-role', id, bob.email, 'owner'],
      ['set-plan', id, 'business'],
      ['remove-member', id, alice.email],
      ['invite', id, 'read-only', 'charlie@people.test'],
    ]
    for (const words of steps) expect(await run(...words)).toMatchObject({ code: 0, err: '' })
    expect((await run('members', id)).out).toMatch(/^bob@people\.test +owner +\S+Z +Bob\n$/)
    expect((await run('list')).out).toMatch(
      new RegExp(`${id} +business +1 +bob@people\\.test +Example\\n`),
    )
    expect((await run('delete', id, 'Wrong')).code).toBe(2)
    expect((await run('delete', id, 'Example')).code).toBe(0)
    expect((await run('list')).out).toMatch(new RegExp(`${id} .* deleted +Example\\n`))
    expect((await run('restore', id)).code).toBe(0)
    const entries = await database.db.selectFrom('auditEntry').select('route').execute()
    expect(entries.map(({ route }) => route)).toContain('portreeve workspace set-role')
  }, 120_000)

  it('rejects wrong arguments, and keeps the last owner', async () => {
    expect((await run('members', 'x')).code).toBe(2)
    expect((await run('set-role', alice.id, alice.email, 'king')).code).toBe(2)
    expect((await run('rename', alice.id)).code).toBe(2)
    expect((await run('remove-member', alice.id, alice.email)).code).toBe(1)
    expect((await run('members', '019a9d2e-7c3b-7f7e-8a51-3c1d9f0b6a11')).code).toBe(1)
  }, 120_000)
})
