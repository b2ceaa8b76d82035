// How long it takes to know who sent a token, in microseconds: remembered, and asked of the database.
// Run with: node bench/http/token.ts
import { createAuth } from '../../src/accounts/auth.ts'
import { createAccount } from '../../src/accounts/accounts.ts'
import { createIdentify } from '../../src/accounts/identify.ts'
import { issueToken } from '../../src/accounts/tokens.ts'
import { readConfig } from '../../src/config.ts'
import { createLog } from '../../src/log.ts'
import { openDatabase } from '../../src/store/database.ts'
import { migrate } from '../../src/store/migrate.ts'
import { openSignals } from '../../src/store/signals.ts'
import { startPostgres } from '../../test/servers/postgres.ts'

const TOKENS = 2_000
const ROUNDS = 20
const LIMIT = 200

const server = await startPostgres('embedded')
const { db, pool, ...database } = openDatabase(server.url)
await migrate(pool)
const log = createLog('silent')
const signals = await openSignals(server.url, log)
const config = readConfig({})
const auth = createAuth({
  pool,
  config,
  secret: 'the key of the benchmark, long enough',
  log,
  isSetUp: async () => true,
  onChange: async () => {},
})
const identify = createIdentify({ db, auth, signals, log })

const account = { email: 'bench@people.test', password: 'a long enough password', plan: 'pro' as const }
const accounts = await Promise.all(
  Array.from({ length: TOKENS / 100 }, (_, i) => createAccount(db, { ...account, email: `bench${i}@people.test` })),
)
const tokens: string[] = []
for (const { id } of accounts) for (let i = 0; i < 100; i++) tokens.push((await issueToken(db, id)).token)

const asked = await measure()
const remembered: number[] = []
for (let round = 0; round < ROUNDS; round++) remembered.push(...(await measure()))

print('asked of the database', asked)
print('remembered', remembered)
const median = quantile(remembered, 0.5)
console.log(`median of a remembered token: ${median.toFixed(1)} µs (at most ${LIMIT} µs)`)
process.exitCode = median <= LIMIT ? 0 : 1

await identify.close()
await signals.close()
await database.close()
await server.stop()

async function measure(): Promise<number[]> {
  const times: number[] = []
  for (const token of tokens) {
    const begun = performance.now()
    const caller = await identify({ authorization: `Bearer ${token}` })
    times.push((performance.now() - begun) * 1000)
    if (!caller) throw new Error('the token was not known')
  }
  return times
}

function print(what: string, times: number[]): void {
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map((q) => quantile(times, q).toFixed(1).padStart(8))
  console.log(`${what.padEnd(24)} n ${String(times.length).padStart(6)}   p50 ${p50}   p95 ${p95}   p99 ${p99} µs`)
}

function quantile(times: number[], q: number): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * q)] ?? NaN
}
