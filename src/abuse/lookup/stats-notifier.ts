import type { Logger } from '../../log.ts'
import { EVERYONE, notifyChange } from '../../store/changes.ts'
import type { Db } from '../../store/database.ts'
import { STATS_CACHE_MS } from './stats.ts'

/**
 * Notifies dashboards of changed statistics while reports arrive, at most once per interval. The
 * interval is longer than the cache of the statistics, so that a browser gets new ones.
 */
export function createStatsNotifier({ db, log }: { db: Db; log: Logger }) {
  let timer: NodeJS.Timeout | undefined

  function notifyStats(): void {
    timer = undefined
    notifyChange(db, EVERYONE, 'attacks').catch((err: unknown) =>
      log.warn({ err }, 'updated statistics were not announced'),
    )
  }

  return {
    changed: () => void (timer ??= setTimeout(notifyStats, 3 * STATS_CACHE_MS).unref()),
    close: () => clearTimeout(timer),
  }
}
