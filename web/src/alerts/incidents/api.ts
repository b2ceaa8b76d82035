import { queryOptions } from '@tanstack/react-query'
import type { Static } from 'typebox'
import type { Incident as IncidentShape, IncidentPage } from '../../../../src/alerts/shapes.ts'
import type {
  Mute as MuteShape,
  NewMute,
  NewSnooze,
} from '../../../../src/alerts/silence/shapes.ts'
import { ApiError, request, type ApiResponse } from '../../api.ts'

export type Incident = Static<typeof IncidentShape>
export type Mute = Static<typeof MuteShape>

const BASE = '/api/v1/alerts'

/** Pages of 100 that the table loads. */
const MAX_PAGES = 5

export const incidents = {
  /** All open incidents and the newest others, up to 500. */
  async list(): Promise<{ incidents: Incident[]; total: number }> {
    const found: Incident[] = []
    for (let page = 1; ; page++) {
      const { data } = await request<ApiResponse<Static<typeof IncidentPage>>>(
        'GET',
        `${BASE}/incidents?limit=100&page=${page}`,
      )
      found.push(...data.incidents)
      const { total, totalPages } = data.pagination
      if (page >= totalPages || page >= MAX_PAGES) return { incidents: found, total }
    }
  },
  acknowledge: (id: string) => request('POST', `${BASE}/incidents/${id}/acknowledge`),
  unacknowledge: (id: string) => request('DELETE', `${BASE}/incidents/${id}/acknowledge`),
  snooze: (id: string, duration: Static<typeof NewSnooze>) =>
    request('POST', `${BASE}/incidents/${id}/snooze`, { body: duration }),
  unsnooze: (id: string) => request('DELETE', `${BASE}/incidents/${id}/snooze`),
}

export const mutes = {
  list: async () => (await request<ApiResponse<Mute[]>>('GET', `${BASE}/mutes`)).data,
  add: async (mute: Static<typeof NewMute>) =>
    (await request<ApiResponse<Mute>>('POST', `${BASE}/mutes`, { body: mute })).data,
  remove: (id: string) => request('DELETE', `${BASE}/mutes/${id}`),
}

/** Ends a mute. @returns the request that takes it back */
export async function endMute(mute: Mute): Promise<() => Promise<unknown>> {
  const { id, object, kind, label, reason, until } = mute
  try {
    await mutes.remove(id)
  } catch (error) {
    // Another incident that it covers has ended it already.
    if (!(error instanceof ApiError && error.code === 'not_found')) throw error
  }
  return () =>
    mutes.add({
      label,
      reason,
      ...(object !== null && { object }),
      ...(kind !== null && { kind }),
      ...(until !== null && { until }),
    })
}

export const incidentsQuery = queryOptions({
  queryKey: ['alerts', 'incidents'],
  queryFn: () => incidents.list(),
})

export const mutesQuery = queryOptions({
  queryKey: ['alerts', 'mutes'],
  queryFn: () => mutes.list(),
})
