import { Fault } from '../../errors.ts'
import { callerOf } from '../../http/auth.ts'
import { Done, paginationOf, responses, sliceOf, Success } from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import { notifyChange } from '../../store/changes.ts'
import { notify } from '../../store/notifications.ts'
import type { Db } from '../../store/database.ts'
import { findProblem } from './bounces/bounces.sql.ts'
import { composeAbuseMail } from './compose-mail.ts'
import { NO_RELAY } from './messages.ts'
import { hashEmail } from './opt-out.ts'
import type { AbuseMailDeps } from './send-mails.ts'
import {
  AbuseMailChange,
  AbuseMailDetail,
  AbuseMailPage,
  AbuseMailParam,
  AbuseMailQuery,
  AbuseMailSettings,
  NewOptOut,
  OptOutPage,
  OptOutParam,
  OptOutQuery,
} from './shapes.ts'
import {
  deleteOptOut,
  findMail,
  findSettings,
  insertOptOut,
  listMails,
  listOptOuts,
  listReportsOf,
  MAILING_CHANGED,
  saveSettings,
  type MailSettings,
} from './abuse-mails.sql.ts'

const BASE = '/api/v1/abuse/mails'

/** `/api/v1/abuse/mails/…`: emails to the networks that attackers are in. */
export function abuseMailRoutes(app: App, deps: AbuseMailDeps): void {
  settingsRoutes(app, deps)
  listRoutes(app, deps.db)
}

function settingsRoutes(app: App, { db, mailRelay, returnPath }: AbuseMailDeps): void {
  const present = async (settings: MailSettings | undefined) => ({
    mode: settings?.mode ?? ('off' as const),
    contact: settings?.contact ?? null,
    bounces: await stateOfBounces(db, returnPath),
    canSend: mailRelay !== null,
  })
  app.get(
    `${BASE}/settings`,
    {
      schema: {
        operationId: 'getAbuseMailSettings',
        summary: 'Get whether reports are mailed to the networks of the attackers',
        response: responses(Success(AbuseMailSettings)),
      },
    },
    async (request) => ({
      success: true,
      data: await present(await findSettings(db, callerOf(request).workspaceId)),
    }),
  )
  app.put(
    `${BASE}/settings`,
    {
      config: { role: 'admin' },
      schema: {
        operationId: 'updateAbuseMailSettings',
        summary:
          'Mail reports to the networks of the attackers, to yourself as a test, or not at all',
        description: 'Your email address becomes the contact, to which recipients answer.',
        body: AbuseMailChange,
        response: responses(Success(AbuseMailSettings)),
      },
    },
    async (request) => {
      const { workspaceId, email: contact } = callerOf(request)
      const { mode } = request.body
      if (mode !== 'off' && !mailRelay) throw new Fault('unavailable', NO_RELAY)
      await db.transaction().execute(async (trx) => {
        await saveSettings(trx, { workspaceId, mode, contact })
        await notify(trx, MAILING_CHANGED, null)
        await notifyChange(trx, workspaceId, 'attacks')
      })
      return { success: true, data: await present({ mode, contact }) }
    },
  )
}

async function stateOfBounces(db: Db, returnPath: string | null) {
  if (returnPath === null) return 'off'
  return (await findProblem(db)) === null ? 'read' : 'failing'
}

function listRoutes(app: App, db: Db): void {
  app.get(
    BASE,
    {
      schema: {
        operationId: 'listAbuseMails',
        summary: 'List emails to the networks of attackers, newest first',
        querystring: AbuseMailQuery,
        response: responses(AbuseMailPage),
      },
    },
    async (request) => {
      const { page, limit } = request.query
      const { workspaceId } = callerOf(request)
      const { rows, total } = await listMails(db, workspaceId, sliceOf({ page, limit }))
      const pagination = paginationOf({ page, limit }, total)
      return { success: true, data: { mails: rows, pagination } }
    },
  )
  app.get(
    `${BASE}/:id`,
    {
      schema: {
        operationId: 'getAbuseMail',
        summary: 'Get an email to the network of attackers, with all of its text',
        description: 'Except for the link with which its recipient opts out.',
        params: AbuseMailParam,
        response: responses(AbuseMailDetail),
      },
    },
    async (request) => {
      const mail = await findMail(db, callerOf(request).workspaceId, request.params.id)
      if (!mail) throw new Fault('not_found', 'The email was not found.')
      const reports = await listReportsOf(db, mail.id)
      const { to, subject, text, attachments = [] } = composeAbuseMail(mail, reports, null)
      return { success: true, data: { ...mail, to, subject, text, attachments } }
    },
  )
}

/** For administrators: addresses that get no emails. */
export function abuseMailAdministrationRoutes(app: App, { db }: Pick<AbuseMailDeps, 'db'>): void {
  app.get(
    `${BASE}/opt-outs`,
    {
      schema: {
        operationId: 'listAbuseMailOptOuts',
        summary: 'List addresses that never get reports by email, newest first',
        description: 'For administrators.',
        querystring: OptOutQuery,
        response: responses(OptOutPage),
      },
    },
    async ({ query: { page, limit, email } }) => {
      const hash = email === undefined ? null : hashEmail(email)
      const { rows, total } = await listOptOuts(db, hash, sliceOf({ page, limit }))
      const pagination = paginationOf({ page, limit }, total)
      return { success: true, data: { optOuts: rows, pagination } }
    },
  )
  app.delete(
    `${BASE}/opt-outs/:id`,
    {
      schema: {
        operationId: 'deleteAbuseMailOptOut',
        summary: 'Mail reports to an address again',
        description: 'For administrators. A recipient who has opted out with the link wants none.',
        params: OptOutParam,
        response: responses(Done),
      },
    },
    async ({ params: { id } }) => {
      if (!(await deleteOptOut(db, Buffer.from(id, 'hex'))))
        throw new Fault('not_found', 'The address has not opted out.')
      return { success: true }
    },
  )
  app.post(
    `${BASE}/opt-outs`,
    {
      schema: {
        operationId: 'createAbuseMailOptOut',
        summary: 'Never mail reports to an address again',
        description: 'For administrators. Recipients opt out with the link in each email.',
        body: NewOptOut,
        response: responses(Done, 201),
      },
    },
    async ({ body }, reply) => {
      await insertOptOut(db, hashEmail(body.email), 'administrator')
      return reply.code(201).send({ success: true })
    },
  )
}
