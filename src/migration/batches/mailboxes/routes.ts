import { Type } from 'typebox'
import { callerOf } from '../../../http/auth.ts'
import { Done, paginationOf, responses, sliceOf, Success, Uuid } from '../../../http/http-schema.ts'
import type { App } from '../../../http/http-server.ts'
import { readSnapshot } from '../../../store/snapshot.ts'
import { editMailbox, removeMailbox, type BatchDeps } from '../batch-actions.ts'
import { requireBatch } from '../find-batch.ts'
import { BatchMailbox, MailboxChanges, MailboxPage, MailboxQuery } from '../shapes.ts'
import { presentMailbox } from '../batch-view.ts'
import { findMailbox, listMailboxes } from './batch-mailboxes.sql.ts'

const params = Type.Object({ id: Uuid, mailboxId: Uuid })

/** Registers `/api/v1/imap/batches/{id}/mailboxes…`. */
export function mailboxRoutes(app: App, deps: BatchDeps): void {
  const { db } = deps
  app.get(
    '/api/v1/imap/batches/:id/mailboxes',
    {
      config: { isHeavy: true },
      schema: {
        summary: 'List the mailboxes of a batch',
        description: 'In the order of the file, unless ordered otherwise.',
        operationId: 'listBatchMailboxes',
        params: Type.Object({ id: Uuid }),
        querystring: MailboxQuery,
        response: responses(Success(MailboxPage)),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      const { page, limit, sort: order, ...filter } = request.query
      const { id } = await requireBatch(db, { workspaceId, id: request.params.id })
      const slice = sliceOf({ page, limit })
      const { rows, total } = await readSnapshot(db, (trx) =>
        listMailboxes(trx, id, { ...filter, order }, slice),
      )
      const pagination = paginationOf({ page, limit }, total)
      return { success: true, data: { mailboxes: rows.map(presentMailbox), pagination } }
    },
  )
  app.patch(
    '/api/v1/imap/batches/:id/mailboxes/:mailboxId',
    {
      schema: {
        summary: 'Correct a mailbox of a batch',
        description:
          'Passwords can always change, except while the mailbox is synchronized; hosts and users until both sides have accepted a sign-in.',
        operationId: 'updateBatchMailbox',
        params,
        body: MailboxChanges,
        response: responses(Success(BatchMailbox)),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      const { id, mailboxId } = request.params
      await editMailbox(deps, { workspaceId, id }, mailboxId, request.body)
      const row = await findMailbox(db, id, mailboxId)
      return { success: true, data: row && presentMailbox(row) }
    },
  )
  app.delete(
    '/api/v1/imap/batches/:id/mailboxes/:mailboxId',
    {
      schema: {
        summary: 'Remove a mailbox from a batch',
        description: 'Deletes its passwords. Messages already copied are kept.',
        operationId: 'deleteBatchMailbox',
        params,
        response: responses(Done),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      const { id, mailboxId } = request.params
      await removeMailbox(deps, { workspaceId, id }, mailboxId)
      return { success: true }
    },
  )
}
