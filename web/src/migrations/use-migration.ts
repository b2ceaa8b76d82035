import { useQuery } from '@tanstack/react-query'
import { useStreamState } from '../live-updates.ts'
import { isMigrationOpen, migrationQuery } from './api.ts'

/** A migration, updated while it runs. */
export function useMigration(id: string) {
  const query = useQuery(migrationQuery(id))
  return {
    ...query,
    link: useStreamState(),
    follows: query.data !== undefined && isMigrationOpen(query.data),
  }
}
