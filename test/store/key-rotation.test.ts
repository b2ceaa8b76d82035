import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAccount } from '../../src/accounts/accounts.ts'
import { startService } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { createLog } from '../../src/log.ts'
import { loadStableKey } from '../../src/store/key-rotation.ts'
import { encrypt, decrypt } from '../../src/store/encryption.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'

const [OLD, NEW] = [
  'the key of the years that have gone by',
  'the key of all the years to come now',
]
const derive = (key: string) => `derived from ${key}`
const idOf = (n: number) => `019a9d2e-90aa-7d0c-b1f2-${String(n).padStart(12, '0')}`

let database: FreshDatabase

beforeAll(async () => {
  database = await freshDatabase()
  const { db, pool } = database
  const email = 'alice@people.test'
  const { id } = await createAccount(db, { email, password: 'the password of Alice', plan: 'pro' })
  const of = (context: string, key = OLD) => encrypt(`what ${context} needs`, key, context)
  const endpoint =
    'insert into webhook_endpoint (id, workspace_id, token, signature_secret) values ($1, $2, $3, $4)'
  for (let n = 0; n < 1_100; n++) {
    const token = `t${String(n).padStart(9, '0')}`
    await pool.query(endpoint, [
      idOf(n),
      id,
      token,
      of(`webhook/${idOf(n)}/signature`, n < 3 ? NEW : OLD),
    ])
  }
  await pool.query(endpoint, [idOf(9_000), id, 'lost000000', of('webhook/other/signature')])
  const migration = `insert into migration (id, workspace_id, source, destination, folders, options, progress, counted)
    values ($1, $2, '{}', '{}', '{}', '{}', '{}', false)`
  await pool.query(migration, [idOf(1), id])
  await pool.query('insert into migration_secret values ($1, $2)', [
    idOf(1),
    of(`migration/${idOf(1)}`),
  ])
  await pool.query(
    `insert into migration_batch (id, workspace_id, name, options, source_limit, destination_limit)
     values ($1, $2, 'company', '{}', 1, 1)`,
    [idOf(1), id],
  )
  await pool.query(
    `insert into batch_mailbox (id, batch_id, line, state, source, destination)
     values ($1, $1, 1, 'ready', '{}', '{}')`,
    [idOf(1)],
  )
  await pool.query(
    `insert into mail_credential (id, workspace_id, provider, account, sealed, access_expires_at, lifetime_seconds, keep_until)
     values ($1, $2, 'google', 'alice', $3, now(), 3600, now() + interval '1 day')`,
    [idOf(1), id, of(`mail_credential/${idOf(1)}`)],
  )
  await pool.query(
    `insert into relay (id, workspace_id, service, sealed, last_four) values ($1, $2, 'abuseipdb', $3, 'eeds')`,
    [idOf(1), id, of(`relay/${idOf(1)}`)],
  )
  await pool.query(
    "insert into mail_client (id, provider, client_id, sealed) values ($1, 'google', 'client', $2)",
    [idOf(1), of(`mail_client/${idOf(1)}`)],
  )
  await pool.query('insert into batch_mailbox_secret values ($1, $2)', [
    idOf(1),
    of(`batch_mailbox/${idOf(1)}`),
  ])
})
afterAll(() => database.drop())

async function start(keys: Record<string, string>, log = createLog('silent')): Promise<void> {
  const settings = {
    DATABASE_URL: database.url,
    PORT: '0',
    ROLES: 'web',
    SMTP_LISTEN: 'off',
    ...keys,
  }
  const service = await startService(readConfig(settings), log)
  await service.stop()
}

async function sealedOf(
  table: string,
  column: string,
  id: string,
): Promise<{ id: string; sealed: string }[]> {
  const { rows } = await database.pool.query(
    `select ${id} as id, ${column} as sealed from ${table} order by 1`,
  )
  return rows
}

describe('a new SECRET_KEY', () => {
  it('decrypts texts of the previous key, once both were given', async () => {
    await start({ SECRET_KEY: OLD })
    const lines: string[] = []
    const log = createLog('error', { write: (line) => void lines.push(line) })
    await start({ SECRET_KEY: NEW, SECRET_KEY_PREVIOUS: OLD }, log)
    expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
      expect.objectContaining({ lost: 1, lostIn: { 'webhook_endpoint.signature_secret': 1 } }),
    ])
    const endpoints = await sealedOf('webhook_endpoint', 'signature_secret', 'id')
    const opened = endpoints
      .slice(0, -1)
      .map(({ id, sealed }) => decrypt(sealed, NEW, `webhook/${id}/signature`))
    expect(opened).toEqual(
      endpoints.slice(0, -1).map(({ id }) => `what webhook/${id}/signature needs`),
    )
    for (const [object, table, id] of [
      ['migration', 'migration_secret', 'migration_id'],
      ['batch_mailbox', 'batch_mailbox_secret', 'mailbox_id'],
      ['mail_credential', 'mail_credential', 'id'],
      ['relay', 'relay', 'id'],
      ['mail_client', 'mail_client', 'id'],
    ] as const) {
      const [secret] = await sealedOf(table, 'sealed', id)
      const context = `${object}/${idOf(1)}`
      expect(decrypt(secret?.sealed ?? '', NEW, context)).toBe(`what ${context} needs`)
    }
  })

  it('keeps texts that neither key decrypts', async () => {
    const lost = (await sealedOf('webhook_endpoint', 'signature_secret', 'id')).at(-1)
    expect(decrypt(lost?.sealed ?? '', OLD, 'webhook/other/signature')).toBe(
      'what webhook/other/signature needs',
    )
  })

  it('keeps the pseudonyms of reporting networks, and so their reputation', async () => {
    const pseudonymKey = async () =>
      (await sealedOf('kept_key', 'sealed', 'name')).find(({ id }) => id === 'abuse pseudonyms')
    const before = await pseudonymKey()
    const kept = decrypt(before?.sealed ?? '', NEW, 'kept key/abuse pseudonyms')
    await start({ SECRET_KEY: OLD, SECRET_KEY_PREVIOUS: NEW })
    const after = await pseudonymKey()
    expect(decrypt(after?.sealed ?? '', OLD, 'kept key/abuse pseudonyms')).toBe(kept)
  })

  it('has no column that it does not know of', async () => {
    const { rows } = await database.pool.query<{ place: string }>(
      `select table_name || '.' || column_name as place from information_schema.columns
       where table_schema = 'public' and column_name ~ '^sealed$|secret$|_encrypted$' order by 1`,
    )
    const known = [
      'alert_channel.secret',
      'alert_channel.settings_encrypted',
      'batch_mailbox_secret.sealed',
      'canary.sealed',
      'canary_seed.sealed',
      'dmarc_mailbox.sealed',
      'kept_key.sealed',
      'mail_client.sealed',
      'mail_consent.sealed',
      'mail_credential.sealed',
      'migration_secret.sealed',
      'relay.sealed',
      'snds_access.sealed',
      'two_factor.secret',
    ]
    expect(rows.map(({ place }) => place)).toEqual([
      ...known,
      'webhook_destination.sealed',
      'webhook_endpoint.response_secret',
      'webhook_endpoint.signature_secret',
    ])
  })
})

describe('a stable key', () => {
  it('is created once, by the first instance, and is replaced when SECRET_KEY is lost', async () => {
    const keys = { secretKey: OLD }
    const made = await Promise.all(
      [1, 2, 3].map(() => loadStableKey(database.db, 'test', derive, keys)),
    )
    expect(new Set(made)).toEqual(new Set([derive(OLD)]))
    expect(
      await loadStableKey(database.db, 'test', derive, { secretKey: NEW, previousKey: OLD }),
    ).toBe(derive(OLD))
    expect(await loadStableKey(database.db, 'test', derive, { secretKey: NEW })).toBe(derive(OLD))
    const third = 'a third key, of which nobody had heard before'
    expect(await loadStableKey(database.db, 'test', derive, { secretKey: third })).toBe(
      derive(third),
    )
  })
})
