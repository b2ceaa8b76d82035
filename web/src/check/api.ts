import { queryOptions } from '@tanstack/react-query'
import type { Static } from 'typebox'
import type {
  BlacklistProgress,
  NewShare,
  SharedCheck,
  SharedChecks,
  SharedResults,
} from '../../../src/diagnostics/shapes.ts'
import { request, type ApiResponse } from '../api.ts'
import type { CheckKind } from './kinds/check-kind.ts'
import { inWorkspace } from '../workspace-choice.ts'

/** The result of a check, or its progress. */
export type CheckResponse = {
  data: unknown
  /** Proof of the result, to share it; null as long as answers are missing. */
  receipt: string | null
  /** How many answers there will be, where they come one by one. */
  total?: number
}

/** Asks now; takes up to ten seconds. */
export const checkQuery = (kind: CheckKind, target: string) =>
  queryOptions({
    queryKey: ['check', kind.path(target)],
    queryFn: ({ signal, client, queryKey }) => {
      const events = kind.events?.(target)
      if (events === undefined) return requestCheck(kind.path(target), signal)
      const again = () => requestCheck(kind.path(target), signal)
      return followProgress(
        events,
        signal,
        (soFar) => client.setQueryData<CheckResponse>(queryKey, soFar),
        again,
      )
    },
    staleTime: 30_000,
    retry: false,
    refetchOnWindowFocus: false,
  })

const requestCheck = (path: string, signal: AbortSignal) =>
  request<CheckResponse>('GET', path, { signal })

/** @param otherwise called when the event stream is unavailable, because it reports no reason */
async function followProgress(
  path: string,
  signal: AbortSignal,
  onProgress: (soFar: CheckResponse) => void,
  otherwise: () => Promise<CheckResponse>,
): Promise<CheckResponse> {
  try {
    for await (const data of readEvents(await fetch(inWorkspace(path), { signal }))) {
      const soFar = JSON.parse(data) as Static<typeof BlacklistProgress>
      if (soFar.receipt !== null) return soFar
      onProgress(soFar)
    }
  } catch {
    signal.throwIfAborted()
  }
  return otherwise()
}

/**
 * The data of server-sent events that are an answer in pieces, with an end; nothing of a failure.
 */
export async function* readEvents({ ok, body }: Response): AsyncGenerator<string> {
  if (!ok || !body) return
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    const events = (rest + piece.value).split('\n\n')
    rest = events.pop() ?? ''
    for (const event of events) yield* /^data: (.*)$/m.exec(event)?.slice(1) ?? []
  }
}

export type Share = Static<typeof SharedCheck>
export type Shared = Static<typeof SharedResults>

const SHARED = '/api/v1/shared-checks'

export const shares = {
  create: async (results: Static<typeof NewShare>['results']) =>
    (await request<ApiResponse<Share>>('POST', SHARED, { body: { results } })).data,
  remove: (token: string) => request<unknown>('DELETE', `${SHARED}/${token}`),
}

export const sharesQuery = queryOptions({
  queryKey: ['shares'],
  queryFn: async () =>
    (await request<ApiResponse<Static<typeof SharedChecks>>>('GET', SHARED)).data,
})

/** Results as they were: they never change. */
export const sharedQuery = (token: string) =>
  queryOptions({
    queryKey: ['shared', token],
    queryFn: async () =>
      (await request<ApiResponse<Shared>>('GET', `${SHARED}/${encodeURIComponent(token)}`)).data,
    staleTime: Infinity,
  })
