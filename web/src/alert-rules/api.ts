import { queryOptions } from '@tanstack/react-query'
import type { Static } from 'typebox'
import type {
  LabelInUse,
  NewRule,
  Rule as RuleShape,
  RuleChanges,
} from '../../../src/alerts/rules/shapes.ts'
import type { PreviewRequest, PreviewResult } from '../../../src/alerts/rules/preview/shapes.ts'
import { request, type ApiResponse } from '../api.ts'
import { withoutDeleted } from '../deletions.ts'

export type Rule = Static<typeof RuleShape>
export type RuleBody = Static<typeof NewRule>
export type Preview = Static<typeof PreviewResult>
export type PreviewedChannel = Preview['channels'][number]
export type PreviewBody = Static<typeof PreviewRequest>

const BASE = '/api/v1/alerts/rules'

export const rules = {
  list: async () => (await request<ApiResponse<Rule[]>>('GET', BASE)).data,
  create: async (body: RuleBody) => (await request<ApiResponse<Rule>>('POST', BASE, { body })).data,
  change: async (id: string, body: Static<typeof RuleChanges>) =>
    (await request<ApiResponse<Rule>>('PATCH', `${BASE}/${id}`, { body })).data,
  remove: (id: string) => request<unknown>('DELETE', `${BASE}/${id}`),
  order: async (ids: string[]) =>
    (await request<ApiResponse<Rule[]>>('PUT', `${BASE}/order`, { body: { ids } })).data,
  preview: async (body: PreviewBody) =>
    (await request<ApiResponse<Preview>>('POST', `${BASE}/preview`, { body })).data,
}

export const rulesQuery = queryOptions({
  queryKey: ['alerts', 'rules'],
  queryFn: async () => withoutDeleted(await rules.list()),
})

/** The labels of the workspace, to choose from. */
export const labelsQuery = queryOptions({
  queryKey: ['alerts', 'labels'],
  queryFn: async () =>
    (await request<ApiResponse<Static<typeof LabelInUse>[]>>('GET', '/api/v1/alerts/labels')).data,
})
