import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { captureOf, startSender } from '../deploy/load.ts'
import { figure } from './figures.ts'
import { makeEndpoints, startPlace, type Place } from './place.ts'

/** Megabytes: an empty database takes about 45, and its write-ahead log as much again. */
const SIZE = 220

describe.runIf(process.getuid?.() === 0)('a full disk', () => {
  it('gets 503, loses nothing acknowledged, and recovers when there is space again', async () => {
    const disk = mkdtempSync(join(tmpdir(), 'portreeve-disk-'))
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE}m,mode=755`, 'none', disk])
    let place: Place | undefined
    try {
      place = await startPlace({ DATA_DIR: disk })
      const tokens = await makeEndpoints(place, 20)
      const { bavail, bsize } = statfsSync(disk)
      writeFileSync(join(disk, 'ballast'), Buffer.alloc(Math.max(0, bavail * bsize - 12e6)))
      const make = captureOf(tokens)
      const sender = startSender(place.url, (n) => ({ ...make(n), body: 'x'.repeat(20_000) }), {
        connections: 4,
      })
      await expect
        .poll(() => sender.tally.others.get(503) ?? 0, { timeout: 120_000 })
        .toBeGreaterThan(20)
      const whileFull = new Map(sender.tally.others)
      rmSync(join(disk, 'ballast'))
      const before = sender.tally.acknowledged.size
      const begun = performance.now()
      await expect
        .poll(() => sender.tally.acknowledged.size, { timeout: 120_000, interval: 20 })
        .toBeGreaterThan(before + 20)
      const recovered = Math.round(performance.now() - begun)
      const { acknowledged, others } = await sender.stop()
      expect([...others.keys()]).toEqual([503])

      let kept = 0
      const list = (await (await place.api('/api/webhook/endpoints')).json()) as {
        endpoints: { requestCount: number }[]
      }
      for (const { requestCount } of list.endpoints) kept += requestCount
      expect(kept).toBeGreaterThanOrEqual(acknowledged.size)
      figure(
        'the disk is full',
        `${whileFull.get(503)} captures answered 503, ${acknowledged.size} acknowledged and kept; took them again ${recovered} ms after there was portreeve`,
      )
    } finally {
      await place?.stop()
      execFileSync('umount', ['-l', disk])
      rmSync(disk, { recursive: true })
    }
  })
})
