import { queryOptions } from '@tanstack/react-query'
import type { Static } from 'typebox'
import type {
  BlacklistProgress,
  NewShare,
  SharedCheck,
  SharedChecks,
  SharedResults,
} from '../../../src/diagnostics/shapes.ts'
import { ApiError, request, type ApiResponse } from '../api.ts'
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

/** @param otherwise called when the event stream ends before its result, because it reports no reason */
async function followProgress(
  path: string,
  signal: AbortSignal,
  onProgress: (soFar: CheckResponse) => void,
  otherwise: () => Promise<CheckResponse>,
): Promise<CheckResponse> {
  try {
    for await (const data of requestEvents(path, signal)) {
      const soFar = JSON.parse(data) as Static<typeof BlacklistProgress>
      if (soFar.receipt !== null) return soFar
      onProgress(soFar)
    }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof ApiError) throw error
  }
  return otherwise()
}

/**
 * Checks that may run at once in all tabs of the browser, which has six connections to an origin
 * over HTTP/1.1: screens of other tabs load meanwhile.
 */
const MAX_STREAMS = 3

/**
 * Requests an answer in pieces, as server-sent events with an end, in the workspace of the tab.
 * @returns the data of the events; nothing of a failure that another request may not have
 * @throws ApiError when the request is rejected, which it would be again
 */
export async function* requestEvents(path: string, signal: AbortSignal): AsyncGenerator<string> {
  const release = await takeStream(signal)
  try {
    yield* readEvents(await fetch(inWorkspace(path), { signal }))
  } finally {
    release()
  }
}

/** Waits until fewer than `MAX_STREAMS` are open, where the browser has locks. */
async function takeStream(signal: AbortSignal): Promise<() => void> {
  const { promise, resolve: release } = Promise.withResolvers<void>()
  if (!('locks' in navigator)) return release
  const names = Array.from({ length: MAX_STREAMS }, (_, number) => `portreeve-check-${number}`)
  const { held = [] } = await navigator.locks.query()
  const free = names.filter((each) => !held.some(({ name }) => name === each))
  const choices = free.length > 0 ? free : names
  const lock = choices[Math.floor(Math.random() * choices.length)] as string
  await new Promise<void>((resolve, reject) => {
    const hold = () => {
      resolve()
      return promise
    }
    navigator.locks.request(lock, { signal }, hold).catch(reject)
  })
  return release
}

/** Statuses of a target that cannot be checked. */
const FINAL_STATUSES = [400, 404]

async function* readEvents(response: Response): AsyncGenerator<string> {
  const { ok, status, body } = response
  if (FINAL_STATUSES.includes(status)) throw new ApiError(status, (await response.json()) as object)
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
