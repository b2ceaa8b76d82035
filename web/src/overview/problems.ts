import { queryOptions } from '@tanstack/react-query'
import type { Static } from 'typebox'
import type {
  Problem as ProblemShape,
  ProblemList as ProblemListShape,
} from '../../../src/problems/shapes.ts'
import { request, type ApiResponse } from '../api.ts'

export type Problem = Static<typeof ProblemShape>
export type Problems = Static<typeof ProblemListShape>

const load = async (options: { workspace?: string } = {}) =>
  (await request<ApiResponse<Problems>>('GET', '/api/v1/problems', options)).data

/** Milliseconds for which a screen that opens takes the problems that are known. */
const FRESH_MS = 5_000

/** The problems of the workspace of this tab, which every screen counts. */
export const problemsQuery = queryOptions({
  queryKey: ['problems'],
  queryFn: () => load(),
  staleTime: FRESH_MS,
})

/** Milliseconds for which the problems of another workspace, whose changes this tab does not follow, are not loaded again. */
const OTHER_FRESH_MS = 60_000

/** The last of the loads, which wait for each other: an account has few at a time. */
let last: Promise<unknown> = Promise.resolve()

/** The problems of another workspace of the account. */
export const problemsOfQuery = (workspace: string) =>
  queryOptions({
    queryKey: ['workspaces', 'problems', workspace],
    queryFn: () => {
      const loading = last.then(() => load({ workspace }))
      last = loading.catch(() => undefined)
      return loading
    },
    staleTime: OTHER_FRESH_MS,
  })
