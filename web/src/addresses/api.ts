import { queryOptions } from '@tanstack/react-query'
import type { AddressOverview } from '../../../src/addresses/shapes.ts'
import { request, type ApiResponse } from '../api.ts'

export type { AddressOverview }

/** All that the workspace knows of an address, from its own tables. */
export const addressOverviewQuery = (ip: string) =>
  queryOptions({
    queryKey: ['addresses', ip],
    queryFn: async () =>
      (
        await request<ApiResponse<AddressOverview>>(
          'GET',
          `/api/v1/addresses/${encodeURIComponent(ip)}`,
        )
      ).data,
    retry: false,
  })
