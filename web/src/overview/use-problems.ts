import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { accountQuery } from '../queries.ts'
import { problemCountQuery } from '../workspaces/problem-count.ts'
import { countProblems, findProblems, type Found, type OverviewData } from './problems.ts'

/** Finds the problems of the workspace, and tells their number to the menu. */
export function useProblems(data: OverviewData): Found {
  const queries = useQueryClient()
  const { data: account } = useQuery(accountQuery)
  const found = findProblems(data)
  const count = countProblems(found.problems)
  const id = account?.workspace.id
  useEffect(() => {
    if (id !== undefined) queries.setQueryData(problemCountQuery(id).queryKey, count)
  }, [queries, id, count])
  return found
}
