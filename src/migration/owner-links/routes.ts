import { Type } from 'typebox'
import { Fault } from '../../errors.ts'
import { callerOf } from '../../http/auth.ts'
import { Done, responses, Success, Uuid } from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import { notifyChange } from '../../store/changes.ts'
import { requireBatch } from '../batches/find-batch.ts'
import { findMigration } from '../migrations.sql.ts'
import { createBatchLinks, createMigrationLink, type CreateDeps } from './create-links.ts'
import { OWNER_LINK_LIMITS } from './limits.ts'
import { BatchLinkRequest, CreatedOwnerLink, LinkRequest, OwnerLink } from './shapes.ts'
import { deleteOpenLink, listLinks, type OwnerLinkRow } from './owner-links.sql.ts'

const params = Type.Object({ id: Uuid })

/** Registers the links with which owners of mailboxes sign in, for the members of a workspace. */
export function ownerLinkRoutes(app: App, deps: CreateDeps): void {
  const { db } = deps
  app.post(
    '/api/v1/imap/migrate/:id/owner-links',
    {
      schema: {
        summary: 'Create a link with which the owner of a mailbox signs in',
        description:
          'For a migration that waits. The owner needs no account. The migration continues when neither side waits. A new link replaces the one before.',
        operationId: 'createOwnerLink',
        params,
        body: LinkRequest,
        response: responses(Success(CreatedOwnerLink), 201),
      },
    },
    async (request, reply) => {
      const { workspaceId, accountId } = callerOf(request)
      const asker = { workspaceId, accountId }
      const data = await createMigrationLink(deps, asker, request.params.id, request.body)
      return reply.code(201).header('cache-control', 'no-store').send({ success: true, data })
    },
  )
  app.get(
    '/api/v1/imap/migrate/:id/owner-links',
    {
      schema: {
        summary: 'List the owners’ links of a migration',
        operationId: 'listOwnerLinks',
        params,
        response: responses(Success(Type.Array(OwnerLink))),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      const migration = await findMigration(db, workspaceId, request.params.id)
      if (!migration) throw new Fault('not_found', 'The migration was not found.')
      const rows = await listLinks(db, workspaceId, { migrationId: migration.id })
      return { success: true, data: rows.map(shown) }
    },
  )
  app.delete(
    '/api/v1/imap/owner-links/:id',
    {
      schema: {
        summary: 'Revoke the link of an owner',
        description: 'Only one that was not used. The migration goes on waiting.',
        operationId: 'revokeOwnerLink',
        params,
        response: responses(Done),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      const revoked = await deleteOpenLink(db, workspaceId, request.params.id)
      if (!revoked) throw new Fault('not_found', 'No open link was found.')
      await notifyChange(db, workspaceId, 'migrations', request.params.id)
      return { success: true }
    },
  )
  batchLinkRoutes(app, deps)
}

function batchLinkRoutes(app: App, deps: CreateDeps): void {
  const { db } = deps
  app.post(
    '/api/v1/imap/batches/:id/owner-links',
    {
      config: { limit: 'imports' },
      schema: {
        summary: 'Create links with which the owners of mailboxes of a batch sign in',
        description:
          'A mailbox is queued when its owner has signed in. New links replace those before.',
        operationId: 'createBatchOwnerLinks',
        params,
        body: BatchLinkRequest,
        response: responses(Success(Type.Array(CreatedOwnerLink)), 201),
      },
    },
    async (request, reply) => {
      const { workspaceId, accountId } = callerOf(request)
      const asker = { workspaceId, accountId }
      const data = await createBatchLinks(deps, asker, request.params.id, request.body)
      return reply.code(201).header('cache-control', 'no-store').send({ success: true, data })
    },
  )
  app.get(
    '/api/v1/imap/batches/:id/owner-links',
    {
      config: { isHeavy: true },
      schema: {
        summary: 'List the owners’ links of a batch',
        operationId: 'listBatchOwnerLinks',
        params,
        response: responses(Success(Type.Array(OwnerLink))),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      const { id: batchId } = await requireBatch(db, { workspaceId, id: request.params.id })
      const rows = await listLinks(db, workspaceId, { batchId })
      return { success: true, data: rows.map(shown) }
    },
  )
}

function shown(row: OwnerLinkRow) {
  const { usedAt, isExpired: _isExpired, attempts: _attempts, ...rest } = row
  return { ...rest, state: stateOf(row), signedInAt: usedAt }
}

function stateOf({ usedAt, withdrawnAt, isExpired, attempts }: OwnerLinkRow) {
  if (withdrawnAt !== null) return 'withdrawn'
  if (usedAt !== null) return 'signed_in'
  if (isExpired) return 'expired'
  return attempts >= OWNER_LINK_LIMITS.attempts ? 'blocked' : 'waiting'
}
