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
import { searchOf } from '../search.ts'
import type { Ask } from './inbox.ts'

export type Endpoint = Static<typeof WebhookEndpoint>
export type Settings = Static<typeof WebhookSettings>
export type Captured = Static<typeof ListedRequest>
export type Opened = Static<typeof OneRequest>
export type Page = Static<typeof RequestPage>

/** What narrows a list down, as the address of the screen has it. */
export type Filter = { q?: string | undefined; method?: string | undefined }

const BASE = '/api/webhook/endpoints'

/** Rows of a page: of what is scrolled to, and of what came in a burst. */
const LIMIT = { desc: 100, asc: 500 }

type One = { success: true; endpoint: Endpoint }

export const webhooks = {
  list: async () => (await request<{ endpoints: Endpoint[] }>('GET', BASE)).endpoints,
  find: async (id: string) => (await request<One>('GET', `${BASE}/${id}`)).endpoint,
  make: async (settings: Settings) => (await request<One>('POST', BASE, { body: settings })).endpoint,
  change: async (id: string, settings: Settings) =>
    (await request<One>('PUT', `${BASE}/${id}`, { body: settings })).endpoint,
  responseSecret: async (id: string) =>
    (await request<{ responseSecret: string }>('GET', `${BASE}/${id}/response-secret`)).responseSecret,
  replaceResponseSecret: async (id: string) =>
    (await request<{ responseSecret: string }>('PUT', `${BASE}/${id}/response-secret`, { body: {} })).responseSecret,
  remove: (id: string) => request<unknown>('DELETE', `${BASE}/${id}`),
  clear: (id: string) => request<unknown>('DELETE', `${BASE}/${id}/requests`),
  requests: (id: string, filter: Filter, ask: Ask) =>
    request<Page>('GET', `${BASE}/${id}/requests?${searchOf({ ...filter, ...ask, limit: LIMIT[ask.order] })}`),
  open: (id: string, requestId: string) => request<Opened>('GET', `${BASE}/${id}/requests/${requestId}`),
}

export const bodyPath = (id: string, requestId: string) => `${BASE}/${id}/requests/${requestId}/body`
export const harPath = (id: string, filter: Filter) =>
  `${BASE}/${id}/requests?${searchOf({ ...filter, limit: '500', format: 'har' })}`

export const endpointsQuery = queryOptions({ queryKey: ['webhooks', 'all'], queryFn: webhooks.list })

export const endpointQuery = (id: string) =>
  queryOptions({ queryKey: ['webhooks', 'one', id], queryFn: () => webhooks.find(id) })

/** A captured request does not change any more; only what its signature is held against may. */
export const openedQuery = (id: string, requestId: string) =>
  queryOptions({
    queryKey: ['webhooks', id, 'request', requestId],
    queryFn: () => webhooks.open(id, requestId),
    staleTime: Infinity,
    gcTime: 60_000,
    retry: false,
  })
