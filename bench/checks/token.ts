// Time to identify the owner of a token, in microseconds: cached, and from the database.
import { createAccount } from '../../src/accounts/accounts.ts'
import { createAuth } from '../../src/accounts/sign-in/better-auth-loader.ts'
import { createIdentify } from '../../src/accounts/tokens/identify-token.ts'
import { issueToken } from '../../src/accounts/tokens/api-tokens.ts'
import { readConfig } from '../../src/config.ts'
import type { Identify } from '../../src/http/auth.ts'
import { createLog } from '../../src/log.ts'
import { openDatabase } from '../../src/store/database.ts'
import { migrate } from '../../src/store/migrate-schema.ts'
import { openNotifications } from '../../src/store/notifications.ts'
import { startPostgres } from '../../test/servers/postgres.ts'

const ACCOUNTS = 20
const TOKENS_EACH = 100
const ROUNDS = 20

/** Takes some ten seconds. Returns the printed table. */
export async function run(): Promise<string> {
  await using undo = new AsyncDisposableStack()
  const server = await startPostgres('embedded')
  undo.defer(() => server.stop())
  const { db, pool, close } = openDatabase(server.url)
  undo.defer(close)
  await migrate(pool)
  const log = createLog('silent')
  const notifications = await openNotifications(server.url, log)
  undo.defer(() => notifications.close())
  const secret = 'the key of the benchmark, long enough'
  const auth = createAuth({
    pool,
    config: readConfig({}),
    secret,
    log,
    isSetUp: async () => true,
    onChange: async () => {},
  })
  const identify = createIdentify({ db, auth, notifications, log })
  undo.defer(() => identify.close())

  const tokens: string[] = []
  for (let i = 0; i < ACCOUNTS; i++) {
    const account = {
      email: `bench${i}@people.test`,
      password: 'a long enough password',
      plan: 'pro' as const,
    }
    const { id } = await createAccount(db, account)
    for (let j = 0; j < TOKENS_EACH; j++)
      tokens.push((await issueToken(db, { accountId: id, workspaceId: id })).token)
  }
  const asked = await measure(identify, tokens)
  const remembered: number[] = []
  for (let round = 0; round < ROUNDS; round++) remembered.push(...(await measure(identify, tokens)))
  return [
    '| a token, in µs | p50 | p95 | p99 |',
    '|---|---|---|---|',
    row('asked of the database', asked),
    row('remembered', remembered),
  ].join('\n')
}

async function measure(identify: Identify, tokens: string[]): Promise<number[]> {
  const times: number[] = []
  for (const token of tokens) {
    const begun = performance.now()
    const caller = await identify({ authorization: `Bearer ${token}` })
    times.push((performance.now() - begun) * 1000)
    if (!caller) throw new Error('the token was not known')
  }
  return times
}

function row(what: string, times: number[]): string {
  const sorted = times.toSorted((a, b) => a - b)
  const quantiles = [0.5, 0.95, 0.99].map((q) =>
    (sorted[Math.floor(sorted.length * q)] ?? Number.NaN).toFixed(1),
  )
  return `| ${[what, ...quantiles].join(' | ')} |`
}

if (import.meta.main) console.log(await run())
