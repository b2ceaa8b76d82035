import { queryOptions } from '@tanstack/react-query'
import type { Static } from 'typebox'
import type {
  Alert as AlertShape,
  AlertPage,
  Channel as ChannelShape,
  ChannelChanges,
  ChannelTypeInfo,
  CreatedChannel,
  NewChannel,
  TestResult,
} from '../../../src/alerts/shapes.ts'
import { request, type ApiResponse } from '../api.ts'
import { withoutDeleted } from '../deletions.ts'

export type Alert = Static<typeof AlertShape>
export type Delivery = Alert['deliveries'][number]
export type Channel = Static<typeof ChannelShape>
export type CreatedAlertChannel = Static<typeof CreatedChannel>
export type ChannelSettings = Static<typeof ChannelChanges>
export type AlertChannelType = Static<typeof ChannelTypeInfo>
export type ChannelField = AlertChannelType['fields'][number]
export type NewAlertChannel = Static<typeof NewChannel>
export type QuietHours = NonNullable<Channel['quietHours']>

/** Filter of the list, as in the page’s URL. */
export type AlertFilter = { kind?: string | undefined; page?: number | undefined }

const BASE = '/api/v1/alerts'

export const alerts = {
  list: async ({ kind, page = 1 }: AlertFilter) =>
    (
      await request<ApiResponse<Static<typeof AlertPage>>>(
        'GET',
        `${BASE}?page=${page}&limit=20${kind ? `&kind=${kind}` : ''}`,
      )
    ).data,
  channels: async () => (await request<ApiResponse<Channel[]>>('GET', `${BASE}/channels`)).data,
  channelTypes: async () =>
    (await request<ApiResponse<AlertChannelType[]>>('GET', `${BASE}/channel-types`)).data,
  add: async (channel: NewAlertChannel) =>
    (await request<ApiResponse<CreatedAlertChannel>>('POST', `${BASE}/channels`, { body: channel }))
      .data,
  change: async (id: string, changes: ChannelSettings) =>
    (await request<ApiResponse<Channel>>('PATCH', `${BASE}/channels/${id}`, { body: changes }))
      .data,
  remove: (id: string) => request<unknown>('DELETE', `${BASE}/channels/${id}`),
  /** Resolves when the receiver accepted the test; throws with its error otherwise. */
  test: async (id: string) =>
    (await request<ApiResponse<Static<typeof TestResult>>>('POST', `${BASE}/channels/${id}/test`))
      .data.responses,
  /** Tests settings that are not saved. */
  testNew: async (channel: NewAlertChannel) =>
    (
      await request<ApiResponse<Static<typeof TestResult>>>('POST', `${BASE}/channels/test`, {
        body: channel,
      })
    ).data.responses,
  sendCode: (id: string) => request<unknown>('POST', `${BASE}/channels/${id}/code`),
  confirm: async (id: string, code: string) =>
    (
      await request<ApiResponse<Channel>>('POST', `${BASE}/channels/${id}/confirm`, {
        body: { code },
      })
    ).data,
}

export const alertsQuery = (filter: AlertFilter) =>
  queryOptions({
    queryKey: ['alerts', 'list', filter],
    queryFn: () => alerts.list(filter),
  })

export const channelsQuery = queryOptions({
  queryKey: ['alerts', 'channels'],
  queryFn: async () => withoutDeleted(await alerts.channels()),
})

/** What each service needs; the same for everyone until the service is updated. */
export const channelTypesQuery = queryOptions({
  queryKey: ['alerts', 'channel-types'],
  queryFn: alerts.channelTypes,
  staleTime: Infinity,
})
