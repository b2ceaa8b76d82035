import { queryOptions } from '@tanstack/react-query'
import type { Static } from 'typebox'
import type {
  AddedMailboxes,
  Batch as BatchShape,
  BatchChanges,
  BatchMailbox,
  BatchPage,
  CreatedBatch,
  MailboxChanges,
  MailboxList,
  MailboxPage,
  MailboxQuery,
  MoreMailboxes,
  NewBatch,
  QueuedMailboxes,
  ReadList,
} from '../../../../src/migration/batches/shapes.ts'
import type { SyncRequest } from '../../../../src/migration/sync/shapes.ts'
import { request, type ApiResponse } from '../../api.ts'
import type { CreatedLink, OwnerLink, Side } from '../api.ts'
import { searchOf } from '../../search.ts'
import { inWorkspace } from '../../workspace-choice.ts'

export type Batch = Static<typeof BatchShape>
export type Batches = Static<typeof BatchPage>
export type ListedBatch = Batches['batches'][number]
export type Mailbox = Static<typeof BatchMailbox>
export type MailboxState = Mailbox['state']
export type ReadMailboxes = Static<typeof ReadList>
export type Field = NonNullable<ReadMailboxes['columns'][number]>
export type ListDraft = Static<typeof MailboxList>
export type BatchDraft = Static<typeof NewBatch>
export type MailboxFilter = Partial<Static<typeof MailboxQuery>>
export type MailboxCorrection = Static<typeof MailboxChanges>
type Added = Static<typeof AddedMailboxes>
type Queued = Static<typeof QueuedMailboxes>

const BASE = '/api/v1/imap/batches'

async function post<T>(path: string, body: object = {}): Promise<T> {
  return (await request<ApiResponse<T>>('POST', `${BASE}${path}`, { body })).data
}

export const batches = {
  list: async (page: number | undefined) =>
    (await request<ApiResponse<Batches>>('GET', `${BASE}?${searchOf({ page, limit: 50 })}`)).data,
  find: async (id: string) => (await request<ApiResponse<Batch>>('GET', `${BASE}/${id}`)).data,
  mailboxes: async (id: string, filter: MailboxFilter) =>
    (
      await request<ApiResponse<Static<typeof MailboxPage>>>(
        'GET',
        `${BASE}/${id}/mailboxes?${searchOf({ ...filter, limit: 100 })}`,
      )
    ).data,
  read: (list: ListDraft) => post<ReadMailboxes>('/read', list),
  create: (draft: BatchDraft) => post<Static<typeof CreatedBatch>>('', draft),
  add: (id: string, list: Static<typeof MoreMailboxes>) => post<Added>(`/${id}/rows`, list),
  dryRun: (id: string) => post<Queued>(`/${id}/dry-run`),
  start: (id: string, again = false) => post<Queued>(`/${id}/start`, again ? { again } : {}),
  pause: (id: string) => post<Batch>(`/${id}/pause`),
  resume: (id: string) => post<Queued>(`/${id}/resume`),
  finish: (id: string) => post<Batch>(`/${id}/finish`),
  retry: (id: string, what: { problem?: string; host?: string; mailboxes?: string[] } = {}) =>
    post<Queued>(`/${id}/retry`, what),
  synchronize: (id: string, settings: Static<typeof SyncRequest>) =>
    request('PUT', `${BASE}/${id}/sync`, { body: settings }),
  endSync: (id: string) => request('DELETE', `${BASE}/${id}/sync`),
  change: async (id: string, changes: Static<typeof BatchChanges>) =>
    (await request<ApiResponse<Batch>>('PATCH', `${BASE}/${id}`, { body: changes })).data,
  correct: (id: string, mailboxId: string, changes: MailboxCorrection) =>
    request('PATCH', `${BASE}/${id}/mailboxes/${mailboxId}`, { body: changes }),
  remove: (id: string, mailboxId: string) =>
    request('DELETE', `${BASE}/${id}/mailboxes/${mailboxId}`),
  createLinks: (id: string, side: Side, mailboxes?: string[]) =>
    post<CreatedLink[]>(`/${id}/owner-links`, { side, ...(mailboxes && { mailboxes }) }),
  links: async (id: string) =>
    (await request<ApiResponse<OwnerLink[]>>('GET', `${BASE}/${id}/owner-links`)).data,
  delete: (id: string) => request('DELETE', `${BASE}/${id}`),
}

export const reportPath = (id: string) => inWorkspace(`${BASE}/${id}/report.csv`)

export const batchesQuery = (page?: number) =>
  queryOptions({ queryKey: ['batches', 'list', page], queryFn: () => batches.list(page) })

export const batchQuery = (id: string) =>
  queryOptions({ queryKey: ['batches', 'one', id], queryFn: () => batches.find(id) })

/** Updated with the batch, whose key its own begins with. */
export const mailboxesQuery = (id: string, filter: MailboxFilter) =>
  queryOptions({
    queryKey: ['batches', 'one', id, 'mailboxes', filter],
    queryFn: () => batches.mailboxes(id, filter),
  })

/** Updated with the batch. */
export const batchLinksQuery = (id: string) =>
  queryOptions({
    queryKey: ['batches', 'one', id, 'owner-links'],
    queryFn: () => batches.links(id),
  })
