import { useQuery } from '@tanstack/react-query'
import { accountQuery } from '../queries.ts'
import type { Entry } from './navigation.ts'

/** Those of them that are for who is signed in. */
export function useEntries(entries: Entry[]): Entry[] {
  const { data: account } = useQuery(accountQuery)
  return entries.filter(({ isFor }) => !isFor || (account && isFor(account)))
}
