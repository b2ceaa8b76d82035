import { queryOptions } from '@tanstack/react-query'
import type { Static } from 'typebox'
import type {
  Confirmation,
  DelistingProcess,
  DelistingStep,
  Explanation,
  NewProcess,
  ProcessPage,
  ProcessQuery,
  ProcessWithHistory,
} from '../../../src/delisting/shapes.ts'
import { request, type ApiResponse } from '../api.ts'
import { searchOf } from '../search.ts'

export type Delisting = Static<typeof DelistingProcess>
export type DelistingWithHistory = Static<typeof ProcessWithHistory>
export type Step = Static<typeof DelistingStep>
export type StepAnswer = Step['lastAnswer']

export type DelistingFilter = Partial<Static<typeof ProcessQuery>>

const BASE = '/api/v1/delisting'

async function postAction(
  id: string,
  stepId: string,
  action: string,
  body?: object,
): Promise<DelistingWithHistory> {
  const path = `${BASE}/${id}/steps/${stepId}/${action}`
  return (await request<ApiResponse<DelistingWithHistory>>('POST', path, body ? { body } : {})).data
}

export const delisting = {
  list: async (filter: DelistingFilter, limit: number) =>
    (
      await request<ApiResponse<Static<typeof ProcessPage>>>(
        'GET',
        `${BASE}/status?${searchOf({ ...filter, limit })}`,
      )
    ).data,
  find: async (id: string) =>
    (await request<ApiResponse<DelistingWithHistory>>('GET', `${BASE}/${id}`)).data,
  /** Checks every list, which takes a few seconds. */
  create: async (body: Static<typeof NewProcess>) =>
    (await request<ApiResponse<Delisting>>('POST', BASE, { body })).data,
  /** Changes cause and fix. */
  explain: async (id: string, body: Static<typeof Explanation>) =>
    (await request<ApiResponse<DelistingWithHistory>>('PATCH', `${BASE}/${id}`, { body })).data,
  confirm: (id: string, stepId: string, confirmation: Static<typeof Confirmation>) =>
    postAction(id, stepId, 'confirm', confirmation),
  submitted: (id: string, stepId: string) => postAction(id, stepId, 'submitted'),
  retry: (id: string, stepId: string) => postAction(id, stepId, 'retry'),
  cancel: (id: string, stepId: string) => postAction(id, stepId, 'cancel'),
}

/** Whether the delisting still changes without the user. */
const isDelistingOpen = ({ status }: Pick<Delisting, 'status'>) =>
  status === 'pending' || status === 'in-progress'

export const delistingsQuery = (filter: DelistingFilter) =>
  queryOptions({
    queryKey: ['delisting', 'list', filter],
    queryFn: () => delisting.list(filter, 100),
  })

export const delistingQuery = (id: string) =>
  queryOptions({
    queryKey: ['delisting', 'one', id],
    queryFn: () => delisting.find(id),
  })

/** The delisting of this address that is in progress, or null. */
export const openDelistingQuery = (ip: string) =>
  queryOptions({
    queryKey: ['delisting', 'open', ip],
    queryFn: async () => (await delisting.list({ ip }, 1)).processes.find(isDelistingOpen) ?? null,
  })
