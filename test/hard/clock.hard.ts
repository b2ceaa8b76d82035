import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'pg'
import { afterEach, describe, expect, it } from 'vitest'
import { BACKOFF } from '../../src/accounts/sign-in/password-throttle.ts'
import { messageOf } from '../../src/errors.ts'
import { startPostgres, type Postgres } from '../servers/postgres.ts'
import { makeClock } from './clock.ts'
import { figure } from './figures.ts'
import { countsOf, NOTHING, startLoad } from './load.ts'
import { startMoving } from './moving.ts'
import { startPlace, type Place } from './place.ts'

const KEY = 'the key of a service whose clock jumps'
const DAY = 86_400_000

/** Hours by which the clock is ahead, and seconds for which it stays so. */
const JUMPS = [
  { to: 6, seconds: 12 },
  { to: 72, seconds: 20 },
  { to: -6, seconds: 20 },
  { to: 0, seconds: 15 },
]

/** Scheduled every minute, so it must run again within a minute and two polls of the queue. */
const EVERY_MINUTE = 'dmarc.names'
const SOON = 85_000

const undo: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step()
})

/** Starts the service with its own database. One or both run with a clock that can be set. */
async function startClocked(isDatabaseClocked: boolean) {
  const clock = makeClock()
  undo.push(() => clock.remove())
  const database = await startPostgres('embedded', {
    isDurable: true,
    environment: isDatabaseClocked ? clock.environment : {},
  })
  undo.push(() => database.stop())
  const place = await startPlace({
    ...clock.environment,
    DATABASE_URL: database.url,
    SECRET_KEY: KEY,
  })
  undo.push(() => place.stop())
  const pool = new Pool({ connectionString: database.url, max: 1 })
  // A connection that is lost while idle is replaced.
  pool.on('error', () => {})
  undo.push(() => pool.end())
  const numberOf = async (sql: string, values: unknown[] = []) => {
    const { rows } = await pool.query<{ n: string }>(`select (${sql}) as n`, values)
    return Number(rows[0]?.n)
  }
  return { clock, database, place, numberOf, isDatabaseClocked }
}

type Clocked = Awaited<ReturnType<typeof startClocked>>

describe.each([
  ['the service alone', false],
  ['the service and of PostgreSQL', true],
])('the clock of %s jumps', (whose, isDatabaseClocked) => {
  it('and nothing is lost, locked out, forgotten or run over and over', async () => {
    const clocked = await startClocked(isDatabaseClocked)
    await blaming(clocked.database, () => jumpAbout(clocked, whose))
  })
})

async function jumpAbout(clocked: Clocked, whose: string): Promise<void> {
  const { clock, place, isDatabaseClocked } = clocked
  const moving = await startMoving(400, 400)
  undo.push(() => moving.stop())
  const load = await startLoad(place, {
    endpoints: 60,
    pause: 20,
    connections: { captures: 3, reports: 3 },
  })
  const migrationId = await moving.begin(place)
  const cookies = [await signIn(place)]
  let slowest = 0
  for (const { to, seconds } of JUMPS) {
    clock.set(to)
    slowest = Math.max(slowest, await slowestOf(place, seconds))
    expect([to, (await place.api('/api/v1/account')).status]).toEqual([to, 200])
    for (const cookie of cookies) expect([to, await isSignedIn(place, cookie)]).toEqual([to, true])
    if (to > 0) {
      cookies.push(await signIn(place))
      await useUp(place)
    }
    if (to < 0) {
      expect(await runsAgain(clocked)).toBe(true)
      // A rate that was used up in the future is available again after minutes, not days.
      expect(await reportFrom(place, '127.2.0.1')).toBe(200)
      await expect
        .poll(() => secondsToSignIn(place), { timeout: 45_000, interval: 5_000 })
        .toBeLessThanOrEqual(BACKOFF.longestSeconds)
    }
  }
  const acknowledged = await load.stop()
  const { 503: unavailable = 0, ...others } = load.others()
  expect(others).toEqual({})
  // PostgreSQL measures its time limits with the clock that is set, and ends transactions early.
  if (!isDatabaseClocked) expect(unavailable).toBe(0)
  expect(await load.missing()).toEqual(NOTHING)
  await moving.isWhole(place, migrationId)
  const runs = await mostRuns(clocked)
  expect(runs).toBeLessThan(30)
  expect(await longestSession(clocked)).toBeLessThan(7 * DAY + 60_000)
  figure(
    `the clock of ${whose} jumps by hours and days, ahead and back`,
    `all of ${countsOf(acknowledged)} there, a migration whole; ${unavailable} requests got 503; the slowest request beside it ${Math.round(slowest)} ms; ` +
      `no schedule ran more than ${runs} times in these minutes, none stood still; sessions and rates as they should be`,
  )
}

/** Adds PostgreSQL’s log to a failure, with a crash first, which is no defect of the service. */
async function blaming(database: Postgres, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (cause) {
    const fall = database.fall()
    const crashed = fall
      ? `PostgreSQL itself crashed, which is no fault of the service:\n${fall}\n\n`
      : ''
    throw new Error(
      `${crashed}${messageOf(cause)}\n\nPostgreSQL wrote last:\n${database.lastLines()}`,
      { cause },
    )
  }
}

async function slowestOf(place: Place, seconds: number): Promise<number> {
  const until = performance.now() + seconds * 1000
  let slowest = 0
  while (performance.now() < until) {
    const begun = performance.now()
    expect((await place.api('/api/v1/account')).status).toBe(200)
    slowest = Math.max(slowest, performance.now() - begun)
    await sleep(50)
  }
  return slowest
}

/** Another address each time, so that only `useUp` uses up the rate of one. */
let addresses = 0

async function askToSignIn(
  place: Place,
  from: string,
  password = 'the password of Alice',
): Promise<Response> {
  const headers = {
    'content-type': 'application/json',
    origin: `http://localhost:${new URL(place.url).port}`,
  }
  return fetch(`${place.url}/api/auth/sign-in/email`, {
    method: 'POST',
    headers: { ...headers, 'x-forwarded-for': from },
    body: JSON.stringify({ email: 'alice@people.test', password }),
  })
}

async function signIn(place: Place): Promise<string> {
  const answer = await askToSignIn(place, `192.0.2.${(addresses += 1)}`)
  expect(answer.status).toBe(200)
  return answer.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';', 1)[0])
    .join('; ')
}

async function isSignedIn(place: Place, cookie: string): Promise<boolean> {
  return (await fetch(`${place.url}/api/v1/account`, { headers: { cookie } })).status === 200
}

/** Uses up the limits of one address: password attempts and reports. */
async function useUp(place: Place): Promise<void> {
  for (let n = 0; n < 12; n++) await (await askToSignIn(place, GUESSER, 'a guess')).arrayBuffer()
  expect(await statusOfSignIn(place)).toBe(429)
  let status = 200
  for (let n = 0; n < 130 && status === 200; n++) status = await reportFrom(place, '127.2.0.1')
  expect(status).toBe(429)
}

const GUESSER = '198.51.100.7'

async function statusOfSignIn(place: Place): Promise<number> {
  return (await askToSignIn(place, GUESSER)).status
}

/** Zero where the sign-in succeeds, otherwise the seconds to wait. */
async function secondsToSignIn(place: Place): Promise<number> {
  const { status, headers } = await askToSignIn(place, GUESSER)
  return status === 200 ? 0 : Number(headers.get('retry-after') ?? Number.NaN)
}

async function reportFrom(place: Place, source: string): Promise<number> {
  const headers = { 'content-type': 'application/json', 'x-forwarded-for': source }
  const body = JSON.stringify({ ip: '8.8.4.4', service: 'ssh' })
  return (await fetch(`${place.url}/api/v1/abuse/report`, { method: 'POST', headers, body })).status
}

/** Whether a schedule comes again after a jump back. */
async function runsAgain({ numberOf }: Clocked): Promise<boolean> {
  const ended = () =>
    numberOf(`select count(*) from pgboss.job where name = $1 and state = 'completed'`, [
      EVERY_MINUTE,
    ])
  const before = await ended()
  await expect.poll(ended, { timeout: SOON, interval: 1_000 }).toBeGreaterThan(before)
  return true
}

function mostRuns({ numberOf }: Clocked): Promise<number> {
  return numberOf(`select max(runs) from (
    select count(*) as runs from pgboss.job where name in (select name from pgboss.schedule) group by name) as counted`)
}

/** Milliseconds until the last session expires. */
function longestSession({ numberOf }: Clocked): Promise<number> {
  return numberOf(`select extract(epoch from max(expires_at) - now()) * 1000 from session`)
}
