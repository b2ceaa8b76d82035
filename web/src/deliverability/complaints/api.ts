import { queryOptions } from '@tanstack/react-query'
import type {
  ComplaintAddress,
  ComplaintSummary,
} from '../../../../src/deliverability/complaints/shapes.ts'
import { request, type ApiResponse } from '../../api.ts'
import { searchOf } from '../../search.ts'

export type {
  ComplaintAddress,
  ComplaintProvider,
  ComplaintSummary,
} from '../../../../src/deliverability/complaints/shapes.ts'

const PATH = '/api/v1/complaints'
const DAYS = 30

/** Complaints about the mail of a domain, or of the workspace, in the last 30 days. */
export const complaintsQuery = (domain: string | null) =>
  queryOptions({
    queryKey: ['complaints', domain],
    queryFn: async ({ signal }) => {
      const search = searchOf({ days: DAYS, ...(domain !== null && { domain }) })
      return (await request<ApiResponse<ComplaintSummary>>('GET', `${PATH}?${search}`, { signal }))
        .data
    },
  })

export const complaintAddress = {
  create: async () =>
    (await request<ApiResponse<ComplaintAddress>>('POST', `${PATH}/address`)).data,
  remove: () => request('DELETE', `${PATH}/address`),
}
