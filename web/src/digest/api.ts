import { queryOptions } from '@tanstack/react-query'
import type { Digest as DigestShape, DigestSettings } from '../../../src/digest/shapes.ts'
import { request, type ApiResponse } from '../api.ts'
import { inWorkspace } from '../workspace-choice.ts'

export type Digest = DigestShape

const BASE = '/api/v1/digest'

export const digests = {
  get: async () => (await request<ApiResponse<Digest>>('GET', BASE)).data,
  change: async (settings: DigestSettings) =>
    (await request<ApiResponse<Digest>>('PUT', BASE, { body: settings })).data,
  test: () => request<unknown>('POST', `${BASE}/test`),
}

/** The page of a preview, for a frame. */
export const previewUrl = (frequency: 'daily' | 'weekly', timeZone: string) =>
  inWorkspace(
    `${BASE}/preview?format=html&frequency=${frequency}&timeZone=${encodeURIComponent(timeZone)}`,
  )

export const digestQuery = queryOptions({ queryKey: ['alerts', 'digest'], queryFn: digests.get })
