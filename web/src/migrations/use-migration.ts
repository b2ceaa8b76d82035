import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEvents } from '../events.ts'
import { eventsPath, isOpen, migrationQuery, type Migration } from './api.ts'

/** A migration as it goes on. */
export function useMigration(id: string) {
  const queries = useQueryClient()
  const query = useQuery(migrationQuery(id))
  const follows = query.data !== undefined && isOpen(query.data)
  const link = useEvents(follows ? eventsPath(id) : null, ['migration'], {
    migration(migration) {
      queries.setQueryData(migrationQuery(id).queryKey, migration as Migration)
      if (!isOpen(migration as Migration)) void queries.invalidateQueries({ queryKey: ['migrations'] })
    },
  })
  return { ...query, link, follows }
}
