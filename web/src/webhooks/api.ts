import { queryOptions } from '@tanstack/react-query'
import type { Static } from 'typebox'
import type {
  ListedRequest,
  OneRequest,
  RequestPage,
  WebhookEndpoint,
  WebhookSettings,
} from '../../../src/webhooks/shapes.ts'
import type {
  NewRule,
  RulePreview,
  RuleSettings,
  WebhookRule,
} from '../../../src/webhooks/rules/shapes.ts'
import type {
  DeliveryDetails,
  DestinationSettings,
  DestinationTest,
  ForwardedRequest,
  ForwardPreview,
  RequestEdit,
  WebhookDelivery,
  WebhookDestination,
  GivenReplay,
  WebhookReplay,
} from '../../../src/webhooks/forwarding/shapes.ts'
import type {
  GivenShare,
  SharedRequest as SharedRequestShape,
  WebhookShare,
} from '../../../src/webhooks/shares/shapes.ts'
import { request } from '../api.ts'
import { withoutDeleted } from '../deletions.ts'
import { searchOf } from '../search.ts'
import { inWorkspace } from '../workspace-choice.ts'

export type Endpoint = Static<typeof WebhookEndpoint>
export type EndpointSettings = Static<typeof WebhookSettings>
export type CapturedRequest = Static<typeof ListedRequest>
export type RequestDetails = Static<typeof OneRequest>
export type RequestsPage = Static<typeof RequestPage>

export type Destination = WebhookDestination
export type Delivery = Static<typeof WebhookDelivery>
export type Replay = Static<typeof WebhookReplay>
export type TestResult = Static<typeof DestinationTest>['attempt']
export type DeliveryWithAttempts = Static<typeof DeliveryDetails>
export type ForwardedPreview = Static<typeof ForwardPreview>
export type ForwardedEdit = RequestEdit
export type Share = Static<typeof WebhookShare>
export type SharedRequest = Static<typeof SharedRequestShape>
export type Rule = WebhookRule
export type NewRuleSettings = Static<typeof NewRule>
export type Preview = Static<typeof RulePreview>

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

/** The rules of an endpoint. */
export const rulesOf = (endpointId: string) => {
  const base = `${BASE}/${endpointId}/rules`
  return {
    list: async () => (await request<{ rules: Rule[] }>('GET', base)).rules,
    create: (settings: NewRuleSettings) => request<unknown>('POST', base, { body: settings }),
    change: (id: string, settings: RuleSettings) =>
      request<unknown>('PUT', `${base}/${id}`, { body: settings }),
    remove: (id: string) => request<unknown>('DELETE', `${base}/${id}`),
    order: (ids: string[]) => request<unknown>('PUT', `${base}/order`, { body: { ids } }),
    reset: (id: string) => request<unknown>('POST', `${base}/${id}/reset`, { body: {} }),
    preview: (requestId: string) =>
      request<Preview>('POST', `${base}/preview`, { body: { requestId } }),
  }
}

type WithSecret = { destination: Destination; secret: string | null }

/** The destinations of an endpoint, and the deliveries to them. */
export const destinationsOf = (endpointId: string) => {
  const base = `${BASE}/${endpointId}/destinations`
  const deliveries = `${BASE}/${endpointId}/deliveries`
  const replays = `${BASE}/${endpointId}/replays`
  return {
    list: async () => (await request<{ destinations: Destination[] }>('GET', base)).destinations,
    create: (settings: DestinationSettings) =>
      request<WithSecret>('POST', base, { body: settings }),
    change: (id: string, settings: DestinationSettings) =>
      request<unknown>('PUT', `${base}/${id}`, { body: settings }),
    remove: (id: string) => request<unknown>('DELETE', `${base}/${id}`),
    pause: (id: string) => request<unknown>('POST', `${base}/${id}/pause`),
    resume: (id: string, waiting: 'send' | 'drop') =>
      request<unknown>('POST', `${base}/${id}/resume`, { body: { waiting } }),
    test: async (id: string) =>
      (await request<Static<typeof DestinationTest>>('POST', `${base}/${id}/test`)).attempt,
    forward: (id: string, given: Static<typeof ForwardedRequest>) =>
      request<unknown>('POST', `${base}/${id}/forward`, { body: given }),
    preview: (id: string, given: Static<typeof ForwardedRequest>) =>
      request<ForwardedPreview>('POST', `${base}/${id}/preview`, { body: given }),
    rotate: (id: string) => request<WithSecret>('POST', `${base}/${id}/rotate-secret`),
    deliveries: async (state: string) =>
      (
        await request<{ deliveries: Delivery[] }>(
          'GET',
          `${deliveries}?${searchOf({ limit: 50, state: state || undefined })}`,
        )
      ).deliveries,
    delivery: (id: string) => request<DeliveryWithAttempts>('GET', `${deliveries}/${id}`),
    retry: (id: string) => request<unknown>('POST', `${deliveries}/${id}/retry`),
    replays: async () => (await request<{ replays: Replay[] }>('GET', replays)).replays,
    replay: (given: GivenReplay) => request<unknown>('POST', replays, { body: given }),
    cancelReplay: (id: string) => request<unknown>('DELETE', `${replays}/${id}`),
  }
}

/** The public links of the requests of an endpoint. */
export const sharesOf = (endpointId: string) => {
  const base = `${BASE}/${endpointId}`
  return {
    list: async () => (await request<{ shares: Share[] }>('GET', `${base}/shares`)).shares,
    create: (requestId: string, given: GivenShare) =>
      request<unknown>('POST', `${base}/requests/${requestId}/shares`, { body: given }),
    end: (id: string) => request<unknown>('DELETE', `${base}/shares/${id}`),
  }
}

export const sharesQuery = (endpointId: string) =>
  queryOptions({
    queryKey: ['webhooks', 'shares', endpointId],
    queryFn: () => sharesOf(endpointId).list(),
  })

export const sharedRequestQuery = (token: string) =>
  queryOptions({
    queryKey: ['shared-webhook-request', token],
    queryFn: async ({ signal }) =>
      (
        await request<{ data: SharedRequest }>(
          'GET',
          `/api/v1/shared-webhook-requests/${encodeURIComponent(token)}`,
          { signal },
        )
      ).data,
    retry: false,
  })

export const destinationsQuery = (endpointId: string) =>
  queryOptions({
    queryKey: ['webhooks', 'destinations', endpointId],
    queryFn: async () => withoutDeleted(await destinationsOf(endpointId).list()),
  })

/** Deliveries are not announced one by one: the list is fetched again now and then. */
export const deliveriesQuery = (endpointId: string, state: string) =>
  queryOptions({
    queryKey: ['webhooks', 'deliveries', endpointId, state],
    queryFn: () => destinationsOf(endpointId).deliveries(state),
    refetchInterval: 5_000,
  })

export const deliveryQuery = (endpointId: string, id: string) =>
  queryOptions({
    queryKey: ['webhooks', 'deliveries', endpointId, 'one', id],
    queryFn: () => destinationsOf(endpointId).delivery(id),
    refetchInterval: 5_000,
  })

export const replaysQuery = (endpointId: string) =>
  queryOptions({
    queryKey: ['webhooks', 'replays', endpointId],
    queryFn: () => destinationsOf(endpointId).replays(),
    refetchInterval: 5_000,
  })

export const rulesQuery = (endpointId: string) =>
  queryOptions({
    queryKey: ['webhooks', 'rules', endpointId],
    queryFn: async () => withoutDeleted(await rulesOf(endpointId).list()),
  })

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

/** Milliseconds in which a listener may answer a request. */
const ANSWERED_WITHIN_MS = 60_000

/**
 * A captured request does not change once a listener had the time to answer it. Only the secret that
 * its signature is verified with can.
 */
export const requestQuery = (id: string, requestId: string) =>
  queryOptions({
    queryKey: ['webhooks', id, 'request', requestId],
    queryFn: () => webhooks.open(id, requestId),
    staleTime: ({ state: { data } }) =>
      data && Date.now() - Date.parse(data.request.receivedAt) < ANSWERED_WITHIN_MS
        ? 2_000
        : Infinity,
    gcTime: 60_000,
    retry: false,
  })
