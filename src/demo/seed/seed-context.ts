import type { Kysely } from 'kysely'
import type { Pool } from 'pg'
import type { Config } from '../../config.ts'
import type { Logger } from '../../log.ts'
import type { DB } from '../../store/tables.ts'
import { DAY_MS } from '../../time.ts'
import type { DemoRecording } from '../recording.ts'

/** What the parts of the seed work with. */
export type Seed = {
  config: Config
  log: Logger
  db: Kysely<DB>
  pool: Pool
  recording: DemoRecording
  workspaceId: string
  /** Calls the API as the owner. @throws Error for a failure */
  call: <T>(path: string, body?: unknown) => Promise<T>
}

/** A number of days before now. */
export const daysAgo = (days: number): Date => new Date(Date.now() - days * DAY_MS)
