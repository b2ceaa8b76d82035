import type { Config } from '../../config.ts'
import type { ArchiveStatus } from '../../store/archive/archive-status.ts'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../time.ts'
import { bad, doubtful, good, type Finding } from '../health/service-checks.ts'

/** The service saves its state every five seconds. */
const STOPPED_AFTER_MS = MINUTE_MS

type Limits = Pick<Config, 'BACKUP_RPO_SECONDS' | 'BACKUP_INTERVAL_HOURS'>

/** Whether the backups in BACKUP_ARCHIVE are as recent as they should be. */
export function checkBackups(
  status: ArchiveStatus | null,
  { BACKUP_RPO_SECONDS, BACKUP_INTERVAL_HOURS }: Limits,
  now: Date,
): Finding {
  const about = 'backups'
  if (!status) return doubtful(about, 'Nothing is archived yet. Start the service.')
  const { archive, problem, archivedUntil, baseAt, pendingBytes } = status
  const ageOf = (time: string) => now.getTime() - new Date(time).getTime()
  if (problem !== null)
    return bad(
      about,
      `Backups fail: ${problem.replace(/\.$/, '')}. ${(pendingBytes / 1e6).toFixed(0)} MB of WAL wait. Make ${archive} available.`,
    )
  if (baseAt === null || archivedUntil === null)
    return doubtful(about, `The first base backup in ${archive} is not complete yet.`)
  if (ageOf(status.at) > STOPPED_AFTER_MS)
    return doubtful(about, `The service does not run. ${archive} reaches until ${archivedUntil}.`)
  // Twice the limit, and a minute: an archive is not late while it is being written.
  if (ageOf(archivedUntil) > 2 * BACKUP_RPO_SECONDS * SECOND_MS + MINUTE_MS)
    return bad(about, `${archive} reaches only until ${archivedUntil}. It is too slow.`)
  if (ageOf(baseAt) > 2 * BACKUP_INTERVAL_HOURS * HOUR_MS)
    return bad(about, `The newest base backup in ${archive} is of ${baseAt}. See the log.`)
  return good(
    about,
    `${archive} reaches until ${archivedUntil}; its newest base backup is of ${baseAt}.`,
  )
}
