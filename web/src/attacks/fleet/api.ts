import { queryOptions } from '@tanstack/react-query'
import type { Static } from 'typebox'
import type {
  Allowlist as AllowlistShape,
  BanPage,
  BouncerList,
  IssuedKey,
  KeyList,
  HistoryPage,
  ServerList,
  Settings as SettingsShape,
  SettingsChange,
} from '../../../../src/fleet/shapes.ts'
import { request, type ApiResponse } from '../../api.ts'
import { searchOf } from '../../search.ts'

export type FleetSettings = Static<typeof SettingsShape>
export type FleetRule = FleetSettings['rules'][number]
export type FleetBans = Static<typeof BanPage>['data']
export type FleetBan = FleetBans['bans'][number]
export type Allowlist = Static<typeof AllowlistShape>['data']
export type FleetServer = Static<typeof ServerList>['data'][number]
export type BouncerKey = Static<typeof KeyList>['data'][number]
export type NewBouncerKey = Static<typeof IssuedKey>
export type Bouncer = Static<typeof BouncerList>['data'][number]
export type FleetChange = Static<typeof HistoryPage>['data']['changes'][number]

const BASE = '/api/v1/abuse/fleet'

const ask = async <T>(path: string) => (await request<ApiResponse<T>>('GET', `${BASE}${path}`)).data

export const fleet = {
  change: (body: Static<typeof SettingsChange>) => request<unknown>('PUT', BASE, { body }),
  ban: (body: { ip: string; seconds: number; reason: string }) =>
    request<unknown>('POST', `${BASE}/bans`, { body }),
  unban: (id: string) => request<unknown>('DELETE', `${BASE}/bans/${id}`),
  allow: (body: { cidr: string; label: string }) =>
    request<unknown>('POST', `${BASE}/allowlist`, { body }),
  makeKey: async (label: string) =>
    (await request<ApiResponse<NewBouncerKey>>('POST', `${BASE}/keys`, { body: { label } })).data,
  revokeKey: (id: string) => request<unknown>('DELETE', `${BASE}/keys/${id}`),
  removeAllowed: (id: string) => request<unknown>('DELETE', `${BASE}/allowlist/${id}`),
}

export const FLEET_KEY = ['attacks', 'fleet'] as const

export const settingsQuery = queryOptions({
  queryKey: [...FLEET_KEY, 'settings'],
  queryFn: () => ask<FleetSettings>(''),
})

/** Banned addresses on a page. */
const BAN_ROWS = 25

export const bansQuery = (page: number) =>
  queryOptions({
    queryKey: [...FLEET_KEY, 'bans', page],
    queryFn: () => ask<FleetBans>(`/bans?${searchOf({ page, limit: BAN_ROWS })}`),
  })

export const allowlistQuery = queryOptions({
  queryKey: [...FLEET_KEY, 'allowlist'],
  queryFn: () => ask<Allowlist>('/allowlist'),
})

export const fleetServersQuery = queryOptions({
  queryKey: [...FLEET_KEY, 'servers'],
  queryFn: () => ask<FleetServer[]>('/servers'),
})

export const bouncersQuery = queryOptions({
  queryKey: [...FLEET_KEY, 'bouncers'],
  queryFn: () => ask<Bouncer[]>('/bouncers'),
})

export const keysQuery = queryOptions({
  queryKey: [...FLEET_KEY, 'keys'],
  queryFn: () => ask<BouncerKey[]>('/keys'),
})

export const historyQuery = queryOptions({
  queryKey: [...FLEET_KEY, 'history'],
  queryFn: async () => (await ask<{ changes: FleetChange[] }>('/history?limit=30')).changes,
})
