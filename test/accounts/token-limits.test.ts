import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listAuditEntries } from '../../src/accounts/audit/audit-log.sql.ts'
import { createToken, isToken } from '../../src/accounts/tokens/format.ts'
import { issueToken } from '../../src/accounts/tokens/api-tokens.ts'
import { setDisabled } from '../../src/accounts/accounts.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { startAccounts, type AccountsTest, type Person } from './module.ts'

let database: FreshDatabase
let portreeve: AccountsTest
let alice: Person
let bob: Person

beforeAll(async () => {
  database = await freshDatabase()
  portreeve = await startAccounts(database.url)
  alice = await portreeve.addPerson('Alice')
  bob = await portreeve.addPerson('Bob')
  await addBob('admin')
})
afterAll(async () => {
  await portreeve.stop()
  await database.drop()
})

const addBob = (role: string) =>
  database.pool.query(
    'insert into membership (workspace_id, account_id, role) values ($1, $2, $3)',
    [alice.id, bob.id, role],
  )
const bobsToken = () =>
  issueToken(database.db, { accountId: bob.id, workspaceId: alice.id }, 'of Bob')
const auditOf = (workspaceId: string, token: string) =>
  portreeve.request(`/api/v1/workspaces/${workspaceId}/audit`, { token })
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

describe('a token', () => {
  it('with a wrong checksum costs no query', async () => {
    const token = createToken()
    expect(isToken(token)).toBe(true)
    const wrong = token.slice(0, -1) + (token.endsWith('x') ? 'y' : 'x')
    await database.pool.query('alter table api_token rename to elsewhere')
    try {
      expect(await portreeve.identify(bearer(wrong))).toBeNull()
      await expect(async () => portreeve.identify(bearer(token))).rejects.toThrow()
    } finally {
      await database.pool.query('alter table elsewhere rename to api_token')
    }
  })

  it('expires although it is cached', async () => {
    const { id, token } = await bobsToken()
    await database.pool.query(
      `update api_token set expires_at = now() + interval '1 second' where id = $1`,
      [id],
    )
    expect(await portreeve.identify(bearer(token))).not.toBeNull()
    await expect.poll(() => portreeve.identify(bearer(token)), { timeout: 20_000 }).toBeNull()
  })

  it('with scopes cannot revoke tokens, read the audit log or change the account', async () => {
    const { id, token } = await issueToken(
      database.db,
      { accountId: alice.id, workspaceId: alice.id },
      '',
      { scopes: ['dmarc:write', 'checks:read'] },
    )
    expect((await auditOf(alice.id, token)).status).toBe(403)
    expect((await portreeve.request('/api/v1/tokens', { token })).status).toBe(403)
    for (const [path, method] of [
      [`/api/v1/tokens/${id}`, 'DELETE'],
      ['/api/v1/tokens', 'POST'],
      ['/api/v1/account/erase', 'POST'],
    ] as const)
      expect((await portreeve.request(path, { token, method, body: {} })).status).toBe(403)
  })

  it('works in its own workspace only', async () => {
    const { token } = await bobsToken()
    expect((await auditOf(alice.id, token)).status).toBe(200)
    const other = await auditOf(bob.id, token)
    expect([other.status, await other.json()]).toMatchObject([403, { code: 'not_a_member' }])
    const named = await portreeve.request('/api/v1/tokens', {
      token,
      headers: { 'x-workspace': bob.id },
    })
    expect(named.status).toBe(403)
  })

  it('ends with the membership, and does not return with it; a disabled member has none', async () => {
    const { token } = await bobsToken()
    await database.pool.query(
      'delete from membership where workspace_id = $1 and account_id = $2',
      [alice.id, bob.id],
    )
    await addBob('read-only')
    expect(await portreeve.identify(bearer(token))).toBeNull()
    const second = await bobsToken()
    expect((await auditOf(alice.id, second.token)).status).toBe(403)
    await setDisabled(database.db, bob.email, true)
    await expect.poll(() => portreeve.identify(bearer(second.token))).toBeNull()
  })
})

describe('the audit log of a workspace', () => {
  it('names the token, and stays within the workspace', async () => {
    const owner = { accountId: alice.id, workspaceId: alice.id }
    const [cron, gone] = [
      await issueToken(database.db, owner, 'cron'),
      await issueToken(database.db, owner, 'gone'),
    ]
    await portreeve.request(`/api/v1/tokens/${gone.id}`, { token: cron.token, method: 'DELETE' })
    const answer = await auditOf(alice.id, alice.token)
    const { data } = (await answer.json()) as { data: { entries: object[] } }
    expect(data.entries[0]).toMatchObject({
      actorId: alice.id,
      token: { id: cron.id, label: 'cron' },
      route: 'DELETE /api/v1/tokens/:id',
      details: { id: gone.id, label: 'gone' },
    })
    const page = { limit: 10, offset: 0 }
    for (const workspaceId of [null, bob.id])
      expect(await listAuditEntries(database.db, { workspaceId, text: undefined }, page)).toEqual(
        [],
      )
  })
})
