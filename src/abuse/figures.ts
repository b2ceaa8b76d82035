import type { Logger } from '../log.ts'
import { EVERYONE, notifyChange } from '../store/changes.ts'
import type { Db } from '../store/database.ts'
import { KEPT_FOR } from './stats.ts'

/**
 * Says now and then, while reports come in, that the network's figures are others: when the old
 * ones are not answered any more.
 */
export function createFigures({ db, log }: { db: Db; log: Logger }) {
  let timer: NodeJS.Timeout | undefined

  function tell(): void {
    timer = undefined
    notifyChange(db, EVERYONE, 'attacks').catch((err: unknown) => log.warn({ err }, 'new figures were not announced'))
  }

  return {
    changed: () => void (timer ??= setTimeout(tell, 3 * KEPT_FOR).unref()),
    close: () => clearTimeout(timer),
  }
}
