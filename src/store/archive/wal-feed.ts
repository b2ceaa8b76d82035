import { chown, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import type { Site } from '../embedded/embedded-server.ts'
import { listSegments, type ChainBase } from './chain.ts'
import type { ObjectStore } from './object-store.ts'
import { readSegment } from './ship-wal.ts'
import { parseLsn, segmentName, segmentNumber, segmentOf } from './wal.ts'

/** Segments in the data folder that PostgreSQL has not replayed: 256 MB. */
const MAX_AHEAD = 16

/** While PostgreSQL cannot say how far it is, it gets a segment in this time. */
const BLIND_MS = 2_000
const POLL_MS = 10

/** The archived segments after a base backup, and the first missing one if later ones exist. */
export type WalAfterBase = { names: string[]; gap: string | null }

/** Lists the segments that continue a base backup, which contains those before its last one. */
export async function findWal(store: ObjectStore, base: ChainBase): Promise<WalAfterBase> {
  const timeline = base.endWal.slice(0, 8)
  const found = await listSegments(store, base.chain)
  const after = found.filter((name) => name.startsWith(timeline) && name >= base.endWal)
  const first = segmentNumber(base.endWal)
  const broken = after.findIndex((name, index) => segmentNumber(name) !== first + BigInt(index))
  if (broken === -1) return { names: after, gap: null }
  const gap = segmentName(parseInt(timeline, 16), first + BigInt(broken))
  return { names: after.slice(0, broken), gap }
}

/** Puts archived segments into the data folder of a standby, as it replays them. */
export function createWalFeed(store: ObjectStore, base: ChainBase, names: string[], site: Site) {
  let given = 0

  async function giveNext(): Promise<void> {
    const name = names[given]
    if (name === undefined) return
    given++
    const path = join(site.folder, 'pg_wal', name)
    const part = join(site.folder, 'pg_wal', 'incoming')
    await writeFile(part, await readSegment(store, base.chain, name), { mode: 0o600 })
    if (site.user) await chown(part, site.user.uid, site.user.gid)
    await rename(part, path)
  }

  return {
    /** Gives enough for the start. */
    async begin(): Promise<void> {
      while (given < Math.min(MAX_AHEAD, names.length)) await giveNext()
    },
    /** Gives more during the start, which can need it. */
    async duringStart<T>(start: Promise<T>): Promise<T> {
      const isStarted = start.then(
        () => true,
        () => true,
      )
      while (!(await Promise.race([isStarted, sleep(BLIND_MS, false)]))) await giveNext()
      return start
    },
    /** Gives the rest; ends early when PostgreSQL has reached its target. */
    async finish(client: Client): Promise<void> {
      while (given < names.length) {
        const { rows } = await client.query<{ isStandby: boolean; replayed: string | null }>(
          'select pg_is_in_recovery() as "isStandby", pg_last_wal_replay_lsn()::text as replayed',
        )
        const { isStandby = false, replayed } = rows[0] ?? {}
        if (!isStandby) return
        const next = segmentNumber(names[given] ?? '')
        const isAhead = next - segmentOf(parseLsn(replayed ?? '0/0')) > BigInt(MAX_AHEAD)
        await (isAhead ? sleep(POLL_MS) : giveNext())
      }
    },
  }
}
