import { queryOptions } from '@tanstack/react-query'
import type { Static } from 'typebox'
import type {
  BatchProofRequest,
  MigrationBatchProof,
  MigrationProof as MigrationProofShape,
  ProofRequest,
} from '../../../../src/migration/proof/shapes.ts'
import { request, type ApiResponse } from '../../api.ts'
import { inWorkspace } from '../../workspace-choice.ts'

export type MigrationProof = Static<typeof MigrationProofShape>
export type BatchProofs = Static<typeof MigrationBatchProof>
export type MailboxProof = NonNullable<MigrationProof['proof']>
export type BatchProof = NonNullable<BatchProofs['proof']>
export type ProofTotals = MailboxProof['totals']
export type Reason = MailboxProof['missing'][number]
export type ProofKey = MigrationProof['key']

const ofMigration = (id: string) => `/api/v1/imap/migrate/${id}/proof`
const ofBatch = (id: string) => `/api/v1/imap/batches/${id}/proof`

export const proofs = {
  find: async (id: string) =>
    (await request<ApiResponse<MigrationProof>>('GET', ofMigration(id))).data,
  findOfBatch: async (id: string) =>
    (await request<ApiResponse<BatchProofs>>('GET', ofBatch(id))).data,
  request: (id: string, body: Static<typeof ProofRequest>) =>
    request('POST', ofMigration(id), { body }),
  requestOfBatch: (id: string, body: Static<typeof BatchProofRequest>) =>
    request('POST', ofBatch(id), { body }),
}

export const proofFilePath = (id: string) => inWorkspace(`${ofMigration(id)}/file`)
export const batchProofFilePath = (id: string) => inWorkspace(`${ofBatch(id)}/file`)

/** Updated with the migration, whose key its own begins with. */
export const proofQuery = (id: string) =>
  queryOptions({ queryKey: ['migration', id, 'proof'], queryFn: () => proofs.find(id) })

/** Updated with the batch, whose key its own begins with. */
export const batchProofQuery = (id: string) =>
  queryOptions({
    queryKey: ['batches', 'one', id, 'proof'],
    queryFn: () => proofs.findOfBatch(id),
  })
