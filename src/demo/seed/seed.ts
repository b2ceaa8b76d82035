import { randomBytes } from 'node:crypto'
import type { Kysely } from 'kysely'
import { createAccount, createFirstAccount } from '../../accounts/accounts.ts'
import { issueToken } from '../../accounts/tokens/api-tokens.ts'
import { insertMembership } from '../../accounts/workspaces/workspaces.sql.ts'
import { startService } from '../../app.ts'
import type { Config } from '../../config.ts'
import type { App } from '../../http/http-server.ts'
import type { Logger } from '../../log.ts'
import { openDatabase } from '../../store/database.ts'
import type { DB } from '../../store/tables.ts'
import type { DemoRecording } from '../recording.ts'
import { ACCOUNT_DOMAIN, rewrite, settle } from '../demo.sql.ts'
import { daysAgo, type Seed } from './seed-context.ts'
import { seedAttacks } from './seed-attacks.ts'
import { seedDmarc } from './seed-dmarc.ts'
import { seedHosts } from './seed-hosts.ts'
import { seedMigrations } from './seed-migrations.ts'
import { seedWebhooks } from './seed-webhooks.ts'

/** The cost of the hashes of passwords that no one has. */
const PASSWORD_COST = 2

/** Fills a database with a living example: three months of a small company. */
export async function seed(config: Config, log: Logger, recording: DemoRecording): Promise<void> {
  await using undo = new AsyncDisposableStack()
  let app: App | undefined
  const service = await startService(
    {
      ...config,
      DEMO: false,
      HOST: '127.0.0.1',
      PORT: 0,
      METRICS_LISTEN: null,
      REQUEST_LIMITS: 'off',
    },
    log.child({}, { level: 'warn' }),
    (created) => (app = created),
  )
  undo.defer(() => service.stop())
  const database = openDatabase(config.DATABASE_URL ?? '')
  undo.defer(() => database.close())
  const { db, pool } = database
  const { accountId, token } = await seedPeople(db)
  const call: Seed['call'] = async (path, body) => {
    const isForm = body instanceof FormData
    const form = isForm && new Response(body)
    const answer = await app?.inject({
      url: path,
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(form && { 'content-type': form.headers.get('content-type') ?? '' }),
      },
      ...(body !== undefined && {
        payload: form ? Buffer.from(await form.arrayBuffer()) : JSON.stringify(body),
      }),
    })
    if (!answer || answer.statusCode >= 400) throw new Error(`${path}: ${answer?.body}`)
    return answer.json()
  }
  const context: Seed = {
    config,
    log,
    db,
    pool,
    recording,
    workspaceId: accountId,
    call,
  }
  await seedDmarc(context)
  await seedWebhooks(context)
  await seedAttacks(context)
  await seedHosts(context)
  await seedMigrations(context)
  recording.at = null
  await settle(db, SEED_TOKEN)
}

const SEED_TOKEN = 'seed'

async function seedPeople(db: Kysely<DB>): Promise<{ accountId: string; token: string }> {
  const person = (name: string) => ({
    email: `${name.split(' ')[0]?.toLowerCase()}@${ACCOUNT_DOMAIN}`,
    name,
    password: randomBytes(24).toString('base64'),
  })
  const { id: accountId } = await createFirstAccount(db, person('Anna Lind'), PASSWORD_COST)
  const others = [
    ['Ben Okafor', 'admin', 64],
    ['Clara Voss', 'member', 40],
    ['Dario Rossi', 'read-only', 12],
  ] as const
  for (const [name, role, days] of others) {
    const account = { ...person(name), plan: 'free' as const }
    const { id } = await createAccount(db, account, PASSWORD_COST)
    await insertMembership(db, { workspaceId: accountId, accountId: id, role })
    await rewrite(db, 'account', { created_at: daysAgo(days) }, { id })
    await rewrite(db, 'membership', { created_at: daysAgo(days) }, { account_id: id })
  }
  await rewrite(db, 'account', { created_at: daysAgo(124) }, { id: accountId })
  await rewrite(
    db,
    'workspace',
    { name: 'Seagull Books', created_at: daysAgo(124) },
    { id: accountId },
  )
  const owner = { accountId, workspaceId: accountId }
  const { id: backups } = await issueToken(db, owner, 'status page', {
    scopes: ['monitoring:read'],
  })
  await rewrite(
    db,
    'api_token',
    { created_at: daysAgo(75), last_used_at: daysAgo(0.004) },
    { id: backups },
  )
  const { token } = await issueToken(db, owner, SEED_TOKEN)
  return { accountId, token }
}
