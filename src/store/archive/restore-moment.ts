import { renameSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Logger } from '../../log.ts'
import { requireNoDatabase } from '../backup.ts'
import { reachEmbedded } from '../embedded.ts'
import { SHIPPED_MAJOR } from '../embedded/binaries.ts'
import { end } from '../embedded/launch.ts'
import { keptFolder } from '../embedded/upgrade.ts'
import { makeFolder, syncFolder } from '../file.ts'
import { chooseBase, type ChainBase } from './chain.ts'
import type { ObjectStore } from './object-store.ts'
import { recover, type Recovery } from './recover.ts'

export type RestoredMoment = Pick<Recovery, 'reached' | 'isShort' | 'gap' | 'segments'> & {
  base: ChainBase
}

/**
 * Restores a moment from the archive to a data folder without a database. The next start of the
 * service begins a new chain.
 * @param at null restores the newest moment
 * @throws Fault `conflict` when there is a database, `not_found` when the archive does not contain
 *   the moment
 */
export async function restoreMoment({
  dataDir,
  store,
  at,
  log,
}: {
  dataDir: string
  store: ObjectStore
  at: Date | null
  log: Logger
}): Promise<RestoredMoment> {
  requireNoDatabase(dataDir)
  const base = await chooseBase(store, at)
  makeFolder(dataDir)
  const folder = join(resolve(dataDir), 'postgres')
  // The next start removes incomplete folders of this name.
  const half = `${folder}.new-${process.pid}`
  try {
    const {
      run,
      site,
      seconds: _,
      ...restored
    } = await recover({ store, base, at, folder: half, log })
    await end(run)
    rmSync(`${site.folder}.lib`, { recursive: true, force: true })
    renameSync(half, folder)
    syncFolder(dirname(folder))
    const server = await reachEmbedded({ dataDir, log })
    await server.stop()
    if (base.postgres !== SHIPPED_MAJOR)
      rmSync(keptFolder(folder, base.postgres), { recursive: true, force: true })
    return { ...restored, base }
  } catch (error) {
    for (const made of [half, folder]) rmSync(made, { recursive: true, force: true })
    throw error
  }
}
