import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startService, type RunningService } from '../src/app.ts'
import { createAccount } from '../src/accounts/accounts.ts'
import { readConfig } from '../src/config.ts'
import { createLog } from '../src/log.ts'
import { freshDatabase, type FreshDatabase } from './database.ts'
import { freePort } from './free-port.ts'

let fresh: FreshDatabase
let service: RunningService | undefined

beforeAll(async () => void (fresh = await freshDatabase()))
afterAll(async () => {
  await service?.stop()
  await fresh.drop()
})

async function start(): Promise<void> {
  const config = readConfig({
    PORT: String(await freePort()),
    DATABASE_URL: fresh.url,
    SECRET_KEY: 'the key of a service whose clock was set back',
    SMTP_LISTEN: 'off',
    DNS_SERVERS: '127.0.0.1:1',
    ROLES: 'web',
    LOG_LEVEL: 'silent',
  })
  service = await startService(config, createLog('silent'))
}

/** What a service writes whose clock is half a day ahead. */
const WRITTEN_AHEAD = `
  insert into session (token, account_id, expires_at, created_at, updated_at)
    select 'a token', id, now() + interval '7 days 12 hours', now(), now() from account;
  insert into auth_rate_limit (key, count, last_request)
    values ('somebody', 10, (extract(epoch from now() + interval '12 hours') * 1000)::bigint);
  insert into monitored_host (workspace_id, host, grave_due_at, full_due_at, side_due_at, recheck_at, claimed_until)
    select id, 'example.test', now() + interval '13 hours', now() + interval '36 hours', now() + interval '15 hours',
      now() + interval '13 hours', now() + interval '12 hours' from account;
  insert into alert_channel (workspace_id, type, target, last_sent_at)
    select id, 'email', 'a@example.test', now() + interval '12 hours' from account;
  insert into alert_message (channel_id, collecting, due_at, created_at)
    select id, true, now() + interval '12 hours', now() + interval '12 hours' from alert_channel;
  insert into public_feed (id, due_at, claimed_until, changed_at)
    values ('tor-exits', now() + interval '36 hours', now() + interval '12 hours', now() + interval '12 hours');
  insert into shared_check (token, workspace_id, target, results, bytes, expires_at)
    select 'abcdefghijklmnopqrstuvwx', id, 'example.test', '[]', 2, now() + interval '30 days 12 hours' from account`

/** Hours by which each is ahead of now. */
const AHEAD = `
  select
    (select extract(epoch from expires_at - now()) / 3600 - 7 * 24 from session)::float8 as session,
    (select last_request / 3600000.0 - extract(epoch from now()) / 3600 from auth_rate_limit)::float8 as rate,
    (select extract(epoch from due_at - now()) / 3600 from monitored_host)::float8 as host,
    (select extract(epoch from full_due_at - now()) / 3600 - 24 from monitored_host)::float8 as "wholeHost",
    (select extract(epoch from claimed_until - now()) / 3600 from monitored_host)::float8 as claim,
    (select extract(epoch from due_at - now()) / 3600 - 24 from public_feed)::float8 as feed,
    (select extract(epoch from greatest(claimed_until, changed_at) - now()) / 3600 from public_feed)::float8 as "feedVersion",
    (select extract(epoch from due_at - now()) / 3600 from alert_message)::float8 as message,
    (select extract(epoch from last_sent_at - now()) / 3600 from alert_channel)::float8 as channel,
    (select extract(epoch from expires_at - now()) / 3600 - 30 * 24 from shared_check)::float8 as shared`

describe('data written while the clock was half a day ahead', () => {
  it('is brought back when the service starts again', async () => {
    const alice = { email: 'alice@people.test', password: 'the password of Alice', name: 'Alice' }
    await createAccount(fresh.db, { ...alice, plan: 'free', admin: false })
    await fresh.pool.query(WRITTEN_AHEAD)
    await start()
    const furthest = async () => {
      const { rows } = await fresh.pool.query<Record<string, number>>(AHEAD)
      return Object.entries(rows[0] ?? {}).filter(([, hours]) => !(hours <= 0.3))
    }
    await expect.poll(furthest).toEqual([])
  })
})
