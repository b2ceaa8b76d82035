import { useQuery } from '@tanstack/react-query'
import { accountQuery } from '../queries.ts'
import { isVisible, type NavigationEntry } from './navigation.ts'

/** The entries that the signed-in account may see. */
export function useVisibleEntries(entries: NavigationEntry[]): NavigationEntry[] {
  const { data: account } = useQuery(accountQuery)
  return entries.filter((entry) => isVisible(entry, account))
}
