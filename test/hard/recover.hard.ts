import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readStatus } from '../../src/store/archive/archive-status.ts'
import { processesOf } from '../../src/store/embedded/leftovers.ts'
import { runPortreeve } from '../cli/command.ts'
import { figure } from './figures.ts'
import { countsOf, startLoad, type Acknowledged } from './load.ts'
import { startPlace, type Place } from './place.ts'

const LOAD_MS = 40_000
const RPO_SECONDS = 10

let archive: string
let place: Place

beforeAll(async () => {
  archive = mkdtempSync(join(tmpdir(), 'portreeve-archive-'))
  place = await startPlace({
    BACKUP_ARCHIVE: archive,
    BACKUP_RPO_SECONDS: String(RPO_SECONDS),
  })
})
afterAll(async () => {
  await place.stop()
  rmSync(archive, { recursive: true })
})

type Snapshot = { at: number; counts: Record<keyof Acknowledged, number> }

/** Sets keep the order in which their items were added. */
function snapshotOf(acknowledged: Acknowledged): Snapshot {
  const { captures, reports, uploads, hosts } = acknowledged
  return {
    at: Date.now(),
    counts: {
      captures: captures.size,
      reports: reports.size,
      uploads: uploads.size,
      hosts: hosts.size,
    },
  }
}

/** The end of its service ends some of PostgreSQL’s processes. */
function killIfAlive(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

const KINDS = ['captures', 'reports', 'uploads', 'hosts'] as const

describe('a database that is destroyed under load', () => {
  it('is restored from the archive with all that was acknowledged until its last moment', async () => {
    await expect
      .poll(() => readStatus(place.dataDir)?.baseAt ?? null, { timeout: 60_000 })
      .not.toBeNull()
    // An endpoint keeps its newest thousand.
    const load = await startLoad(place, { pause: 8, endpoints: 60 })
    const snapshots: Snapshot[] = []
    const timer = setInterval(() => snapshots.push(snapshotOf(load.acknowledged)), 50)
    await sleep(LOAD_MS + Math.random() * 5_000)
    const folder = join(place.dataDir, 'postgres')
    const killedAt = Date.now()
    const pids = processesOf(folder)
    await place.instance.kill('SIGKILL')
    pids.forEach(killIfAlive)
    clearInterval(timer)
    const status = readStatus(place.dataDir)
    await load.stop()
    await expect.poll(() => processesOf(folder)).toEqual([])
    rmSync(folder, { recursive: true })

    const begun = performance.now()
    const restored = await runPortreeve(['restore', '--at', 'latest', '--json'], place.env)
    expect(restored.code).toBe(0)
    await place.again()
    const seconds = (performance.now() - begun) / 1000
    const { data } = JSON.parse(restored.out) as { data: { until: string; segments: number } }
    const until = new Date(status?.archivedUntil ?? 0).getTime()
    const reached = new Date(data.until).getTime()
    // The state is saved every five seconds, so that the archive can reach further.
    expect(reached).toBeGreaterThanOrEqual(until - 1_000)
    const early = snapshots.findLast(({ at }) => at <= until)
    expect(early?.counts.captures).toBeGreaterThan(1_000)
    expect(load.acknowledged.captures.size).toBeLessThan(60_000)
    const missing = await load.missing()
    for (const kind of KINDS) {
      const acknowledged = [...load.acknowledged[kind]].slice(0, early?.counts[kind])
      const lost = new Set<string>(missing[kind])
      expect(acknowledged.filter((key) => lost.has(key))).toEqual([])
    }
    const rpo = ((killedAt - reached) / 1000).toFixed(1)
    figure(
      'the service and PostgreSQL are killed under load and the database is deleted',
      `restored with all that was acknowledged until ${rpo} s before the kill (BACKUP_RPO_SECONDS=${RPO_SECONDS}), of ` +
        `${countsOf(load.acknowledged)}; ready ${seconds.toFixed(1)} s after the restore began, ${data.segments} WAL segments`,
    )

    await expect
      .poll(() => (readStatus(place.dataDir)?.baseAt ?? '') > new Date(reached).toISOString(), {
        timeout: 60_000,
      })
      .toBe(true)
    const drill = await runPortreeve(['backup', 'verify', '--json'], place.env)
    expect([drill.code, JSON.parse(drill.out)]).toMatchObject([0, { success: true }])
  })
})
