import { useQuery } from '@tanstack/react-query'
import { accountQuery } from '../queries.ts'
import type { NavigationEntry } from './navigation.ts'

/** Those of them that are for who is signed in. */
export function useVisibleEntries(entries: NavigationEntry[]): NavigationEntry[] {
  const { data: account } = useQuery(accountQuery)
  return entries.filter(({ isVisibleTo }) => !isVisibleTo || (account && isVisibleTo(account)))
}
