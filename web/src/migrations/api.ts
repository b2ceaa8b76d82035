import { queryOptions } from '@tanstack/react-query'
import type { Static } from 'typebox'
import type {
  Connection as ConnectionShape,
  ConnectionTest,
  CreatedMigration,
  Folder as FolderShape,
  FolderList,
  Migration as MigrationShape,
  MigrationPage,
  MigrationQuery,
  MigrationThroughput,
  NewMigration,
  Retry,
} from '../../../src/migration/shapes.ts'
import type {
  CreatedOwnerLink,
  OwnerLink as OwnerLinkShape,
} from '../../../src/migration/owner-links/shapes.ts'
import type { MigrationSyncRequest } from '../../../src/migration/sync/shapes.ts'
import { request, type ApiResponse } from '../api.ts'
import { searchOf } from '../search.ts'

export type Connection = Static<typeof ConnectionShape>
export type Folder = Static<typeof FolderShape>
export type Folders = Static<typeof FolderList>
export type Migration = Static<typeof MigrationShape>
export type MigrationList = Static<typeof MigrationPage>
export type Throughput = NonNullable<Static<typeof MigrationThroughput>['data']>
export type Listed = MigrationList['migrations'][number]
export type MigrationDraft = Static<typeof NewMigration>

export type MigrationFilter = Partial<Static<typeof MigrationQuery>>

export type OwnerLink = Static<typeof OwnerLinkShape>
export type CreatedLink = Static<typeof CreatedOwnerLink>
export type Side = OwnerLink['side']

const BASE = '/api/v1/imap'

export const migrations = {
  /** Signs in; takes as long as the other server does. */
  test: (connection: Connection) =>
    request<Static<typeof ConnectionTest>>('POST', `${BASE}/test-connection`, { body: connection }),
  folders: async (connection: Connection) =>
    (await request<ApiResponse<Folders>>('POST', `${BASE}/list-folders`, { body: connection }))
      .data,
  start: (draft: MigrationDraft) =>
    request<Static<typeof CreatedMigration>>('POST', `${BASE}/migrate`, { body: draft }),
  list: async (filter: MigrationFilter) =>
    (
      await request<ApiResponse<MigrationList>>(
        'GET',
        `${BASE}/migrations?${searchOf({ ...filter, limit: 100 })}`,
      )
    ).data,
  find: (id: string) => request<Migration>('GET', `${BASE}/migrate/${id}`),
  throughput: async (id: string) =>
    (await request<ApiResponse<Throughput | null>>('GET', `${BASE}/migrate/${id}/throughput`)).data,
  cancel: (id: string) => request<Migration>('POST', `${BASE}/migrate/${id}/cancel`),
  synchronize: (id: string, settings: Static<typeof MigrationSyncRequest>) =>
    request('PUT', `${BASE}/migrate/${id}/sync`, { body: settings }),
  confirmDeletions: (id: string) => request('POST', `${BASE}/migrate/${id}/sync/deletions`),
  endSync: (id: string) => request('DELETE', `${BASE}/migrate/${id}/sync`),
  createLink: async (id: string, side: Side) =>
    (
      await request<ApiResponse<CreatedLink>>('POST', `${BASE}/migrate/${id}/owner-links`, {
        body: { side },
      })
    ).data,
  links: async (id: string) =>
    (await request<ApiResponse<OwnerLink[]>>('GET', `${BASE}/migrate/${id}/owner-links`)).data,
  revokeLink: (id: string) => request('DELETE', `${BASE}/owner-links/${id}`),
  retry: (id: string, secrets: Static<typeof Retry>) =>
    request<Migration>('POST', `${BASE}/migrate/${id}/retry`, { body: secrets }),
}

/** Whether a link can still be used, or was blocked; the others can’t be revoked. */
export const isLinkOpen = ({ state }: OwnerLink) => state !== 'signed_in' && state !== 'withdrawn'

/** Whether it waits until a person signs in. */
export const needsConsent = ({ status, batchId }: Pick<Migration, 'status' | 'batchId'>) =>
  status === 'paused' && batchId === null

/** Whether the owner of a mailbox has not signed in yet. */
export const waitsForOwner = ({
  status,
  srcSignIn,
  dstSignIn,
}: Pick<Migration, 'status' | 'srcSignIn' | 'dstSignIn'>) =>
  status === 'paused' && (srcSignIn.waitsForOwner || dstSignIn.waitsForOwner)

/** Whether it has not ended. Those of a batch can be paused with it. */
export const isMigrationOpen = (migration: Pick<Migration, 'status' | 'batchId'>) =>
  migration.status === 'pending' || migration.status === 'running' || needsConsent(migration)

export const migrationsQuery = (filter: MigrationFilter = {}) =>
  queryOptions({
    queryKey: ['migrations', filter],
    queryFn: () => migrations.list(filter),
  })

export const migrationQuery = (id: string) =>
  queryOptions({ queryKey: ['migration', id], queryFn: () => migrations.find(id) })

/** Updated with the migration, whose key its own begins with. */
export const throughputQuery = (id: string) =>
  queryOptions({
    queryKey: ['migration', id, 'throughput'],
    queryFn: () => migrations.throughput(id),
  })

/** Updated with the migration. */
export const ownerLinksQuery = (id: string) =>
  queryOptions({ queryKey: ['migration', id, 'owner-links'], queryFn: () => migrations.links(id) })
