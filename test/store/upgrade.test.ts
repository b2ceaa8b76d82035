import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hashPassword } from '../../src/accounts/sign-in/password-hash.ts'
import { hashToken } from '../../src/accounts/tokens/format.ts'
import { startService, type RunningService } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { createLog } from '../../src/log.ts'
import { encrypt } from '../../src/store/encryption.ts'
import { emptyDatabase, type FreshDatabase } from '../database.ts'
import { MIGRATIONS, migrateUpTo } from './migrate-up-to.ts'
import {
  countRows,
  fillEmptyTables,
  fillEveryTable,
  fillNewColumns,
  readTables,
} from './old-rows.ts'

const KEY = 'the key of a service that is years old'

/** Every released schema, by its last migration. */
const SCHEMAS = readdirSync(MIGRATIONS)
  .map((file) => basename(file, '.sql'))
  .toSorted()

/** An administrator, with the columns of the first schema. @returns the id */
async function insertOldAccount(pool: Pool, email: string, password: string): Promise<string> {
  const insert = `insert into account (email, plan, admin) values ($1, 'pro', true) returning id`
  const { rows } = await pool.query<{ id: string }>(insert, [email])
  const id = rows[0]?.id ?? ''
  await pool.query(
    `insert into credential (account_id, provider, provider_account_id, password)
     values ($1::uuid, 'credential', $1::uuid::text, $2)`,
    [id, await hashPassword(password)],
  )
  return id
}

/** @returns an API token of the account */
async function insertOldToken(pool: Pool, accountId: string): Promise<string> {
  const token = `prv_${'o'.repeat(43)}`
  const insert = `insert into api_token (account_id, label, hash, last_four) values ($1, 'old', $2, 'oooo')`
  await pool.query(insert, [accountId, hashToken(token)])
  return token
}

/** Applies a migration as `migrate` does, which would read all of them each time. */
async function apply(pool: Pool, schema: string): Promise<void> {
  const sql = readFileSync(join(MIGRATIONS, `${schema}.sql`), 'utf8')
  const isInSteps = sql.startsWith('-- without a transaction')
  for (const statement of isInSteps ? sql.split(/;$/m) : [sql]) await pool.query(statement)
}

/** Tables that a later schema renames. */
function renamed({ account_usage: usage, ...rows }: Record<string, number>) {
  return usage === undefined ? rows : { ...rows, workspace_usage: usage }
}

describe('a database of any schema there was', () => {
  it('keeps every row through every later migration', async () => {
    const { pool, drop } = await emptyDatabase()
    const known = new Set<string>()
    let before: Record<string, number> = {}
    for (const schema of SCHEMAS) {
      await apply(pool, schema)
      const tables = await readTables(pool)
      const counts = await countRows(pool, tables)
      expect(renamed(counts), schema).toMatchObject(renamed(before))
      // What this migration added is filled, so that the next ones meet a value everywhere.
      await fillNewColumns(pool, tables, known)
      await fillEmptyTables(pool, tables, counts)
      before = Object.fromEntries(tables.map(({ name }) => [name, Math.max(counts[name] ?? 0, 1)]))
    }
    await drop()
  })
})

describe.each(['0004_webhooks', '0070_delisting', '0100_audit'])(
  'a service on a database at %s',
  (last) => {
    let database: FreshDatabase
    let service: RunningService
    let accountId: string
    let token: string

    beforeAll(async () => {
      database = await emptyDatabase()
      const { pool } = database
      await migrateUpTo(pool, last)
      const id = await insertOldAccount(pool, 'alice@people.test', 'the password of Alice')
      accountId = id
      token = await insertOldToken(pool, id)
      const endpoint = '019a9d2e-90aa-7d0c-b1f2-6f0a4c2e7d42'
      const insert = `insert into webhook_endpoint (id, account_id, token, label, response_body, signature, signature_secret)
      values ($1, $2, 'oldtoken00', E'years\u2028\u202eold', 'as ever', '{"scheme": "github"}', $3)`
      await pool.query(insert, [
        endpoint,
        id,
        encrypt('its secret', KEY, `webhook/${endpoint}/signature`),
      ])
      await pool.query(
        `insert into abuse_range (kind, cidr, label) values ('whitelist', '8.8.8.0/24', 'ours')`,
      )
      await fillEveryTable(pool)
      // Has nothing but an account.
      await pool.query(`insert into account (email, plan) values ('bob@people.test', 'starter')`)
      const settings = {
        DATABASE_URL: database.url,
        SECRET_KEY: KEY,
        PORT: '0',
        SMTP_LISTEN: 'off',
        DNS_SERVERS: '127.0.0.1:1',
      }
      service = await startService(readConfig(settings), createLog('silent'))
    })
    afterAll(async () => {
      await service.stop()
      await database.drop()
    })

    const ask = async (path: string) => {
      const answer = await fetch(service.url + path, {
        headers: { authorization: `Bearer ${token}` },
      })
      return { status: answer.status, text: await answer.text() }
    }

    it('is brought to this version with all that is in it', async () => {
      expect(await ask('/api/v1/account')).toMatchObject({
        status: 200,
        text: expect.stringContaining('"admin":true'),
      })
      expect(await ask('/api/webhook/endpoints')).toMatchObject({
        status: 200,
        text: expect.stringContaining('years old'),
      })
      expect(await ask('/api/v1/abuse/whitelist')).toMatchObject({
        status: 200,
        text: expect.stringContaining('8.8.8.0/24'),
      })
    })

    it('works in every module like a new one', async () => {
      const captured = await fetch(`${service.url}/webhooks/oldtoken00`, {
        method: 'POST',
        body: 'still there?',
      })
      expect([captured.status, await captured.text()]).toEqual([200, 'as ever'])
      for (const path of [
        '/api/v1/dmarc/domains',
        '/api/v1/monitoring/hosts',
        '/api/v1/imap/migrations',
        '/api/v1/alerts',
        '/api/v1/audit',
        '/api/v1/abuse/stats',
      ])
        expect([path, (await ask(path)).status]).toEqual([path, 200])
      expect((await ask('/readyz')).status).toBe(200)
    })

    it('has a workspace of each account, which owns its rows with its plan', async () => {
      const { pool } = database
      const { rows: members } = await pool.query(
        `select a.email, w.id = a.id as "hasItsId", w.plan, w.name, w.responsible_id = a.id as "answers", m.role
         from account a join membership m on m.account_id = a.id join workspace w on w.id = m.workspace_id order by email`,
      )
      const own = { hasItsId: true, answers: true, role: 'owner' }
      expect(members).toEqual([
        { ...own, email: 'alice@people.test', name: 'alice@people.test', plan: 'pro' },
        { ...own, email: 'bob@people.test', name: 'bob@people.test', plan: 'starter' },
      ])
      const { rows: owned } = await pool.query<{ name: string }>(
        `select c.conrelid::regclass::text as name from pg_constraint c
         where c.contype = 'f' and c.confrelid = 'workspace'::regclass`,
      )
      expect(owned.length).toBeGreaterThan(15)
      for (const { name } of owned) {
        const { rows } = await pool.query(
          `select distinct workspace_id from ${name} where workspace_id is not null`,
        )
        expect([name, rows.filter((row) => row.workspace_id !== accountId)]).toEqual([
          name,
          name === 'membership' ? [{ workspace_id: expect.any(String) }] : [],
        ])
      }
    })

    it('accepts its old token in its workspace only, for everything', async () => {
      const answers = [
        ['/api/v1/tokens', 200],
        ['/api/v1/dmarc/mailboxes', 200],
        ['/api/v1/accounts', 200],
      ]
      for (const [path = '', status] of answers as [string, number][])
        expect([path, (await ask(path)).status]).toEqual([path, status])
      const { rows } = await database.pool.query(
        `select scopes, expires_at, workspace_id from api_token where label = 'old'`,
      )
      expect(rows).toEqual([{ scopes: null, expires_at: null, workspace_id: accountId }])
      const created = await fetch(`${service.url}/api/v1/monitoring/hosts`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: '{"host": "9.9.9.9"}',
      })
      expect(created.status).toBe(201)
      const bobs = await database.pool.query<{ id: string }>(
        `select id from account where email = 'bob@people.test'`,
      )
      const elsewhere = await fetch(`${service.url}/api/v1/tokens`, {
        headers: { authorization: `Bearer ${token}`, 'x-workspace': bobs.rows[0]?.id ?? '' },
      })
      expect(elsewhere.status).toBe(403)
    })

    it('shows a migration of the first version with all that is shown of one today', async () => {
      const { text } = await ask('/api/v1/imap/migrations')
      const [migration] = (JSON.parse(text) as { data: { migrations: object[] } }).data.migrations
      expect(migration).toMatchObject({
        srcUser: 'alice',
        totalMessages: 7,
        allMailOnce: false,
        progress: {
          notes: [],
          warnings: [],
          bytesTotal: null,
          folderProgress: { INBOX: { doneCount: 7, bytesTotal: null } },
        },
      })
    })
  },
)
