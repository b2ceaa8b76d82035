import type { Delisting } from '../delisting/api.ts'
import { stepsNeedingAction } from '../delisting/delisting-status.ts'
import { isMigrationOpen, type Listed } from '../migrations/api.ts'

export type Work = { cases: Delisting[]; migrations: Listed[] }

/** Migrations and delistings that run without the user. */
export function findInProgress({ cases, migrations }: Work): Work {
  const isOpen = ({ status }: Delisting) => status === 'pending' || status === 'in-progress'
  const isRunning = (it: Delisting) => isOpen(it) && stepsNeedingAction(it).length === 0
  return { cases: cases.filter(isRunning), migrations: migrations.filter(isMigrationOpen) }
}
