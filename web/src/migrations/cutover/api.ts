import { queryOptions } from '@tanstack/react-query'
import type { Static } from 'typebox'
import type {
  Cutover as CutoverShape,
  CutoverConfirmation,
  NewCutover,
} from '../../../../src/migration/cutover/shapes.ts'
import { request, type ApiResponse } from '../../api.ts'

export type Cutover = Static<typeof CutoverShape>
export type CutoverStep = Cutover['steps'][number]
export type StepName = CutoverStep['step']

const pathOf = (batchId: string) => `/api/v1/imap/batches/${batchId}/cutover`

export const cutovers = {
  find: async (batchId: string) =>
    (await request<ApiResponse<Cutover | null>>('GET', pathOf(batchId))).data,
  begin: (batchId: string, body: Static<typeof NewCutover>) =>
    request('POST', pathOf(batchId), { body }),
  confirm: (batchId: string, step: StepName, body: Static<typeof CutoverConfirmation>) =>
    request('POST', `${pathOf(batchId)}/steps/${step}/confirm`, { body }),
  startFinalPass: (batchId: string) => request('POST', `${pathOf(batchId)}/final-pass`),
  check: (batchId: string) => request('POST', `${pathOf(batchId)}/check`),
  cancel: (batchId: string) => request('POST', `${pathOf(batchId)}/cancel`),
}

/** Updated with the batch, whose key its own begins with. */
export const cutoverQuery = (batchId: string) =>
  queryOptions({
    queryKey: ['batches', 'one', batchId, 'cutover'],
    queryFn: () => cutovers.find(batchId),
  })
