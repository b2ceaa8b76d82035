import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDatabase } from '../../src/store/database.ts'
import { ownedTableNames } from '../../src/store/owned.ts'
import { startTestService, type TestService, type Person } from '../service.ts'
import { browserOf } from './sessions.ts'
import { isScaled } from '../scaled/instances.ts'

type Line = { table: string; row: Record<string, unknown> }

let portreeve: TestService
let alice: Person
let bob: Person

beforeAll(async () => {
  portreeve = await startTestService({ TRUSTED_PROXIES: '127.0.0.0/8,::1' })
  alice = await portreeve.addPerson('Alice', { plan: 'pro' })
  bob = await portreeve.addPerson('Bob', { admin: true })
  for (const person of [alice, bob]) await leaveTraces(person)
})
afterAll(() => portreeve.stop())

const post = (path: string, { token }: Person, body: object) =>
  portreeve.request(path, {
    method: 'POST',
    token,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

/** Creates data in every module that stores any. */
async function leaveTraces(person: Person): Promise<void> {
  const signature = { scheme: 'github', secret: `the secret of ${person.email}` }
  const made = await post('/api/webhook/endpoints', person, { label: person.email, signature })
  const { endpoint } = (await made.json()) as { endpoint: { token: string } }
  for (let n = 0; n < 3; n++)
    await portreeve.request(`/webhooks/${endpoint.token}`, {
      method: 'POST',
      body: `for ${person.email}`,
    })
  await post('/api/v1/dmarc/domains', person, { domain: `${person.id.slice(-6)}.example.com` })
  await post('/api/v1/monitoring/hosts', person, { host: '8.8.4.4', label: person.email })
  await post('/api/v1/abuse/tokens', person, { label: person.email })
}

async function exported(person: Person): Promise<{ lines: Line[]; text: string }> {
  const ask = await browserOf(portreeve, person)
  const answer = await ask('/api/v1/account/export')
  expect(answer.headers.get('content-type')).toBe('application/x-ndjson')
  const text = await answer.text()
  return {
    text,
    lines: text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Line),
  }
}

/** Counts the rows of a table that belong to an account or to its first workspace, directly. */
async function owned(table: string, id: string): Promise<number> {
  const { pool, close } = openDatabase(portreeve.databaseUrl)
  const { rows } = await pool.query<{ n: number }>(
    `select count(*)::int as n from ${table} t
     where $1 in (to_jsonb(t)->>'account_id', to_jsonb(t)->>'workspace_id')`,
    [id],
  )
  await close()
  return rows[0]?.n ?? 0
}

describe('the data of an account', () => {
  it('is exported from every module, without secrets', async () => {
    const { lines, text } = await exported(alice)
    const tables = new Set(lines.map(({ table }) => table))
    for (const table of [
      'account',
      'session',
      'credential',
      'api_token',
      'webhook_endpoint',
      'webhook_request',
      'dmarc_domain',
      'monitored_host',
      'abuse_token',
    ])
      expect([...tables], table).toContain(table)
    expect(lines.filter(({ table }) => table === 'webhook_request')).toHaveLength(3)
    const names = new Set(lines.flatMap(({ row }) => Object.keys(row)))
    for (const name of [
      'password',
      'hash',
      'secret',
      'signature_secret',
      'response_secret',
      'sealed',
    ])
      expect(names.has(name), name).toBe(false)
    expect(lines.find(({ table }) => table === 'session')?.row).not.toHaveProperty('token')
    expect(text).not.toContain(alice.token)
  })

  it('contains no data of other accounts', async () => {
    const { text } = await exported(alice)
    expect(text).toContain(alice.email)
    for (const word of [bob.email, bob.id]) expect(text).not.toContain(word)
  })

  it('holds no connection during a slow download, with one export per account at a time', async () => {
    const database = openDatabase(portreeve.databaseUrl)
    const people = await Promise.all(
      Array.from({ length: 17 }, (_, n) => portreeve.addPerson(`Reader${n}`)),
    )
    // More than the socket buffers hold.
    const ids = people.map(({ id }) => id)
    await database.pool.query(
      `update api_token set label = repeat(md5(id::text), 300000) where account_id = any($1::uuid[])`,
      [ids],
    )
    // All sign in before the first download, which ends when its client reads nothing for long.
    const asking = []
    for (const [index, person] of people.entries())
      asking.push(
        await browserOf(portreeve, person, { 'x-forwarded-for': `203.0.113.${index + 1}` }),
      )
    const unread: Response[] = []
    for (const ask of asking) unread.push(await ask('/api/v1/account/export'))
    expect(unread.map(({ status }) => status)).toEqual(unread.map(() => 200))
    // Jobs of the service have transactions, too, which end soon.
    const openTransactions = () =>
      database.pool.query(
        `select state, query from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`,
      )
    await expect.poll(async () => (await openTransactions()).rows).toEqual([])
    expect((await portreeve.request('/api/v1/account', people[0])).status).toBe(200)
    // Each instance counts its own concurrent exports.
    if (!isScaled) {
      const second = await asking[0]?.('/api/v1/account/export')
      expect([second?.status, Number(second?.headers.get('retry-after')) > 0]).toEqual([429, true])
    }
    const whole = (await unread[3]?.text()) ?? ''
    const token = whole
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Line)
      .find(({ table }) => table === 'api_token')
    expect(String(token?.row['label'])).toHaveLength(9_600_000)
    for (const answer of unread) if (!answer.bodyUsed) await answer.body?.cancel()
    await database.close()
  }, 300_000)

  it('is neither exported nor deleted with a token', async () => {
    expect((await portreeve.request('/api/v1/account/export', alice)).status).toBe(403)
    expect((await post('/api/v1/account/erase', alice, { password: alice.password })).status).toBe(
      403,
    )
    expect((await portreeve.request('/api/v1/account/export')).status).toBe(401)
  })

  it('is deleted at once and completely, with the password', async () => {
    const ask = await browserOf(portreeve, alice)
    const wrong = await ask('/api/v1/account/erase', 'POST', { password: 'the password of Bob' })
    expect(wrong.status).toBe(403)
    expect((await ask('/api/v1/account/erase', 'POST', { password: alice.password })).status).toBe(
      200,
    )
    expect((await ask('/api/v1/account')).status).toBe(401)
    expect((await portreeve.request('/api/v1/account', alice)).status).toBe(401)
    for (const table of [
      'webhook_endpoint',
      'dmarc_domain',
      'monitored_host',
      'abuse_token',
      'api_token',
      'session',
      'credential',
    ]) {
      expect([table, await owned(table, alice.id)]).toEqual([table, 0])
      if (table !== 'session')
        expect([table, (await owned(table, bob.id)) > 0]).toEqual([table, true])
    }
  })

  it('is kept for the last administrator', async () => {
    const ask = await browserOf(portreeve, bob)
    expect((await ask('/api/v1/account/erase', 'POST', { password: bob.password })).status).toBe(
      409,
    )
    expect((await ask('/api/v1/account')).status).toBe(200)
  })
})

/** Tables without data of accounts, with the reason. */
const NOBODYS = [
  // About addresses of attackers and pseudonyms of networks.
  'abuse_address',
  'abuse_appeal',
  'abuse_count',
  // The abuse contacts of networks, as their registries publish them, and hashes of those that opted
  // out or whose mail servers reject emails.
  'abuse_contact',
  'abuse_mail_opt_out',
  'abuse_bounce',
  'public_feed',
  'public_feed_version',
  // Of the installation.
  'abuse_bounce_mailbox',
  'mail_client',
  'mail_client_problem',
  'abuse_network',
  'abuse_range',
  'abuse_rate',
  'abuse_refutation',
  'abuse_report',
  'abuse_snapshot',
  'abuse_snapshot_change',
  'abuse_snapshot_file',
  'abuse_snapshot_hold',
  // About other installations, attackers and pseudonyms of networks.
  'federation_collection',
  'federation_evidence',
  'federation_journal',
  'federation_nonce',
  'federation_peer',
  // About the public DNS.
  'dmarc_address',
  // Records of removal requests, which must outlive the delisting to prevent repeated requests.
  'delisting_request',
  // Report mail received by an address, an account and the installation on a day. A limit must
  // outlive its subject.
  'dmarc_intake_day',
  // How far an account has used up its limits of requests, for the same reason, until they have
  // refilled.
  'account_rate',
  // Bytes that an endpoint had and has no more; its own trigger removes the row with the endpoint.
  'webhook_deleted',
  // Alert settings of an endpoint; removed in the same way.
  'webhook_alert',
  // Keys by which repeated requests are recognized; removed in the same way.
  'webhook_repeat',
  // Names of URLs that workspaces gave up, which others must not get for a while.
  'webhook_held_name',
  // Counts of reports by network and service.
  'abuse_system_count',
  // Of the service itself.
  'dmarc_watch',
  'webhook_watch',
  'auth_rate_limit',
  'installation',
  'kept_key',
  // Keyed hashes of email addresses that were guessed at or written to. They must outlive the
  // account.
  'outgoing_mail',
  'password_attempt',
  'schema_migration',
  // Hashes of one-time secrets, which name no account.
  'used_secret',
  'verification',
]

describe('a table', () => {
  it('is either deleted with its account, or has no personal data', async () => {
    const { db, pool, close } = openDatabase(portreeve.databaseUrl)
    const { rows } = await pool.query<{ name: string }>(
      `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`,
    )
    const ours = await ownedTableNames(db)
    await close()
    const others = rows.map(({ name }) => name).filter((name) => !ours.includes(name))
    expect(others.toSorted()).toEqual(NOBODYS.toSorted())
  })
})
