import { queryOptions } from '@tanstack/react-query'
import type { Static } from 'typebox'
import type {
  ListedRequest,
  OneRequest,
  RequestPage,
  WebhookEndpoint,
  WebhookSettings,
} from '../../../src/webhooks/shapes.ts'
import { request } from '../api.ts'
import { withoutDeleted } from '../deletions.ts'
import { searchOf } from '../search.ts'
import { inWorkspace } from '../workspace-choice.ts'

export type Endpoint = Static<typeof WebhookEndpoint>
export type EndpointSettings = Static<typeof WebhookSettings>
export type CapturedRequest = Static<typeof ListedRequest>
export type RequestDetails = Static<typeof OneRequest>
export type RequestsPage = Static<typeof RequestPage>

/**
 * Selects a page: requests older than a cursor, or the newest without one; with `asc`, later
 * requests.
 */
export type PageRequest = { cursor: string | null; order: 'desc' | 'asc' }

/** The filter of a request list, as in the URL of the screen. */
export type RequestFilter = { q?: string | undefined; method?: string | undefined }

const BASE = '/api/webhook/endpoints'

/** Rows of a page: `desc` for scrolling, `asc` to catch up after a burst. */
const PAGE_LIMIT = { desc: 100, asc: 500 }

type One = { success: true; endpoint: Endpoint }

export const webhooks = {
  list: async () => (await request<{ endpoints: Endpoint[] }>('GET', BASE)).endpoints,
  find: async (id: string) => (await request<One>('GET', `${BASE}/${id}`)).endpoint,
  create: async (settings: EndpointSettings) =>
    (await request<One>('POST', BASE, { body: settings })).endpoint,
  change: async (id: string, settings: EndpointSettings) =>
    (await request<One>('PUT', `${BASE}/${id}`, { body: settings })).endpoint,
  responseSecret: async (id: string) =>
    (await request<{ responseSecret: string }>('GET', `${BASE}/${id}/response-secret`))
      .responseSecret,
  replaceResponseSecret: async (id: string) =>
    (
      await request<{ responseSecret: string }>('PUT', `${BASE}/${id}/response-secret`, {
        body: {},
      })
    ).responseSecret,
  remove: (id: string) => request<unknown>('DELETE', `${BASE}/${id}`),
  clear: (id: string) => request<unknown>('DELETE', `${BASE}/${id}/requests`),
  requests: (id: string, filter: RequestFilter, ask: PageRequest) =>
    request<RequestsPage>(
      'GET',
      `${BASE}/${id}/requests?${searchOf({ ...filter, ...ask, limit: PAGE_LIMIT[ask.order] })}`,
    ),
  open: (id: string, requestId: string) =>
    request<RequestDetails>('GET', `${BASE}/${id}/requests/${requestId}`),
}

export const bodyPath = (id: string, requestId: string) =>
  inWorkspace(`${BASE}/${id}/requests/${requestId}/body`)
export const harPath = (id: string, filter: RequestFilter) =>
  inWorkspace(`${BASE}/${id}/requests?${searchOf({ ...filter, limit: '500', format: 'har' })}`)

export const endpointsQuery = queryOptions({
  queryKey: ['webhooks', 'all'],
  queryFn: async () => withoutDeleted(await webhooks.list()),
})

export const endpointQuery = (id: string) =>
  queryOptions({ queryKey: ['webhooks', 'one', id], queryFn: () => webhooks.find(id) })

/** A captured request never changes. Only the secret that its signature is verified with can. */
export const requestQuery = (id: string, requestId: string) =>
  queryOptions({
    queryKey: ['webhooks', id, 'request', requestId],
    queryFn: () => webhooks.open(id, requestId),
    staleTime: Infinity,
    gcTime: 60_000,
    retry: false,
  })
