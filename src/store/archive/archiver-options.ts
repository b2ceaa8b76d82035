import type { Config } from '../../config.ts'
import type { Logger } from '../../log.ts'
import type { Embedded } from '../embedded.ts'
import type { ObjectStore } from './object-store.ts'

export type ArchiverOptions = {
  server: Pick<Embedded, 'adminUrl' | 'folder'>
  store: ObjectStore
  config: Pick<
    Config,
    | 'DATA_DIR'
    | 'BACKUP_RPO_SECONDS'
    | 'BACKUP_INTERVAL_HOURS'
    | 'BACKUP_KEPT_DAYS'
    | 'BACKUP_MAX_WAL_BYTES'
  >
  log: Logger
}
