import type { Transaction } from 'kysely'
import { Type } from 'typebox'
import { Fault, invalidField } from '../../errors.ts'
import { callerOf } from '../../http/auth.ts'
import { responses, Done, Success } from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import { KEEP_DAYS } from '../../mail-credentials/limits.ts'
import {
  extendCredentials,
  holdCredential,
  isCredentialSignedInWith,
} from '../../mail-credentials/mail-credentials.sql.ts'
import { parseHost } from '../../net/address.ts'
import { refuseAddress } from '../../net/guard.ts'
import { notifyChange } from '../../store/changes.ts'
import { encrypt } from '../../store/encryption.ts'
import type { DB } from '../../store/tables.ts'
import { newUuid } from '../../store/uuid.ts'
import { MAX_MAILBOXES } from '../limits.ts'
import { byId, type RouteDeps } from '../route-deps.ts'
import { Mailbox, NewMailbox } from '../shapes.ts'
import { encryptionContext } from './fetch.ts'
import {
  deleteMailbox,
  findMailbox,
  insertMailbox,
  listReportMailboxes,
  type MailboxRow,
} from './report-mailboxes.sql.ts'
import { breaksCommand } from '../../net/imap/connection/command-encoding.ts'

/** `/api/v1/dmarc/mailboxes`: IMAP mailboxes that are checked for reports. */
export function mailboxRoutes(app: App, deps: RouteDeps): void {
  const { db, queue, mailboxJob } = deps
  app.get(
    '/api/v1/dmarc/mailboxes',
    {
      schema: {
        summary: 'List report mailboxes, oldest first',
        response: responses(Success(Type.Array(Mailbox))),
      },
    },
    async (request) => {
      const rows = await listReportMailboxes(db, callerOf(request).workspaceId)
      return { success: true, data: rows.map(shown) }
    },
  )
  app.post(
    '/api/v1/dmarc/mailboxes',
    {
      config: { limit: 'connections' },
      schema: {
        summary: 'Add a report mailbox',
        description:
          'The mailbox is checked over IMAP every 10 minutes. Each message in `folder` is read once. A message is marked as seen, or moved, after its reports are stored. A message without a report is left unchanged.',
        body: NewMailbox,
        response: responses(Success(Mailbox), 201),
      },
    },
    async (request, reply) => {
      const row = await addMailbox(deps, callerOf(request).workspaceId, request.body)
      await queue.enqueue(db, mailboxJob, { mailboxId: row.id, workspaceId: row.workspaceId })
      await notifyChange(db, row.workspaceId, 'dmarc', row.id)
      return reply.code(201).send({ success: true, data: shown(row) })
    },
  )
  app.post(
    '/api/v1/dmarc/mailboxes/:id/fetch',
    {
      config: { limit: 'verifications', unaudited: true },
      schema: {
        summary: 'Check a report mailbox now',
        params: byId,
        response: responses(Success(Mailbox)),
      },
    },
    async (request) => {
      const row = await requireMailbox(deps, callerOf(request).workspaceId, request.params.id)
      await queue.enqueue(db, mailboxJob, { mailboxId: row.id, workspaceId: row.workspaceId })
      return { success: true, data: shown(row) }
    },
  )
  app.delete(
    '/api/v1/dmarc/mailboxes/:id',
    {
      schema: {
        summary: 'Delete a report mailbox',
        params: byId,
        response: responses(Done),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      const { credentialId } = await requireMailbox(deps, workspaceId, request.params.id)
      await db.transaction().execute(async (trx) => {
        await deleteMailbox(trx, workspaceId, request.params.id)
        if (credentialId !== null) await release(trx, workspaceId, credentialId)
      })
      await notifyChange(db, workspaceId, 'dmarc', request.params.id)
      return { success: true }
    },
  )
}

async function requireMailbox(
  { db }: RouteDeps,
  workspaceId: string,
  id: string,
): Promise<MailboxRow> {
  const row = await findMailbox(db, id)
  if (row?.workspaceId !== workspaceId)
    throw new Fault(
      'not_found',
      'Mailbox not found in your workspace. List your mailboxes for valid IDs.',
    )
  return row
}

async function addMailbox(
  { db, secretKey, allowPrivate, openTokens }: RouteDeps,
  workspaceId: string,
  given: NewMailbox,
): Promise<MailboxRow> {
  const { password, credentialId, user, moveTo, folder, ...rest } = given
  const host = parseHost(given.host)
  refuseAddress(host, allowPrivate)
  refuseControls({ user, password: password ?? '' })
  if (moveTo === folder) throw invalidField('moveTo', 'must differ from folder')
  if ((await listReportMailboxes(db, workspaceId)).length >= MAX_MAILBOXES) {
    throw new Fault(
      'conflict',
      `A workspace can have up to ${MAX_MAILBOXES} mailboxes. Delete one first.`,
    )
  }
  const id = newUuid()
  const row = {
    ...rest,
    id,
    workspaceId,
    folder,
    host: host.kind === 'ip' ? host.address : host.name,
    username: user,
    sealed: password === undefined ? null : encrypt(password, secretKey, encryptionContext(id)),
    credentialId: password === undefined ? (credentialId ?? null) : null,
    moveTo: moveTo ?? null,
  }
  if (row.credentialId === null) return insertMailbox(db, row)
  const use = { workspaceId, credentialId: row.credentialId }
  await openTokens(use, { host: row.host, tlsVerify: row.tlsVerify, user })
  return db.transaction().execute(async (trx) => {
    await holdCredential(trx, workspaceId, use.credentialId, true)
    return insertMailbox(trx, row)
  })
}

/** A credential that no report mailbox uses any more is deleted a day later, if nothing else does. */
async function release(
  trx: Transaction<DB>,
  workspaceId: string,
  credentialId: string,
): Promise<void> {
  if (await isCredentialSignedInWith(trx, workspaceId, credentialId)) return
  await holdCredential(trx, workspaceId, credentialId, false)
  await extendCredentials(trx, workspaceId, [credentialId], KEEP_DAYS.unused)
}

/** A line break in an IMAP argument would let the user inject a command. */
function refuseControls(fields: Record<string, string>): void {
  for (const [name, value] of Object.entries(fields)) {
    if (breaksCommand(value)) throw invalidField(name, 'must not contain line breaks or NUL')
  }
}

function shown({ username, ...row }: MailboxRow) {
  return { ...row, user: username }
}
