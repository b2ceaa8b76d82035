import type { Kysely } from 'kysely'
import type { Logger } from '../../log.ts'
import type { DB } from '../../store/tables.ts'
import type { ListingDeps } from '../blocklists/check-blocklists.ts'
import type { CertificateDeps } from '../certificates/check-certificates.ts'
import type { CheckIntervals } from '../limits.ts'

export type HostCheckDeps = ListingDeps &
  CertificateDeps & {
    db: Kysely<DB>
    intervals: CheckIntervals
    log: Logger
    /** Called with the status of a checked host, or `failed`. */
    onChecked?: ((status: string) => void) | undefined
  }
