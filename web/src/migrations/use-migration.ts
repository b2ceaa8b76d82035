import { useQuery } from '@tanstack/react-query'
import { useLink } from '../live.ts'
import { isOpen, migrationQuery } from './api.ts'

/** A migration as it goes on. */
export function useMigration(id: string) {
  const query = useQuery(migrationQuery(id))
  return { ...query, link: useLink(), follows: query.data !== undefined && isOpen(query.data) }
}
