import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isReady } from '../deploy/instance.ts'
import { figure } from './figures.ts'
import { countsOf, NOTHING, startLoad } from './load.ts'
import { startMoving } from './moving.ts'
import { startPlace, type Place } from './place.ts'

const ROUNDS = 12

let place: Place
let moving: Awaited<ReturnType<typeof startMoving>>

beforeAll(async () => {
  ;[place, moving] = await Promise.all([startPlace(), startMoving(1_500)])
})
afterAll(() => Promise.all([place.stop(), moving.stop()]))

describe('killed without warning, a dozen times under mixed load, the service and its database in turn', () => {
  it('has lost nothing that it acknowledged', async () => {
    const load = await startLoad(place)
    const migrationId = await moving.begin(place)
    const recovered: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      await sleep(300 + Math.random() * 2_000)
      const begun = performance.now()
      if (round % 2 === 0) await killService()
      else await killDatabase()
      await isReady(place.instance)
      recovered.push(Math.round(performance.now() - begun))
    }
    const acknowledged = await load.stop()
    // An endpoint keeps its newest thousand, and there are twenty.
    expect(acknowledged.captures.size).toBeLessThan(20_000)
    expect(await load.missing()).toEqual(NOTHING)
    await moving.isWhole(place, migrationId)
    figure(
      `killed ${ROUNDS} times`,
      `all that was acknowledged is there: ${countsOf(acknowledged)}, one migration of 1,500 mails; ` +
        `ready again after at most ${(Math.max(...recovered) / 1000).toFixed(1)} s`,
    )
  })
})

async function killService(): Promise<void> {
  await place.instance.kill('SIGKILL')
  await place.again()
}

/** Its backends keep responding for a moment: only a new server counts as recovered. */
async function killDatabase(): Promise<void> {
  const pid = databasePid()
  process.kill(pid, 'SIGKILL')
  await expect.poll(databasePid, { timeout: 30_000, interval: 20 }).not.toBe(pid)
}

/** NaN while it is not running. */
function databasePid(): number {
  const file = join(place.dataDir, 'postgres/postmaster.pid')
  return existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n', 1)[0]) : NaN
}
