import { randomBytes } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import { Type } from 'typebox'
import { onAccessChangeOf } from '../../accounts/account-changes.ts'
import { Fault, invalidField } from '../../errors.ts'
import { callerOf, type Reauthenticate } from '../../http/auth.ts'
import type { EventStreams } from '../../http/events/event-streams.ts'
import {
  Done,
  paginationOf,
  responses,
  responsesAs,
  sliceOf,
  Success,
  Uuid,
} from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import { parseAddress } from '../../net/address.ts'
import { parseMessage } from '../../protocols/mail/message.ts'
import { notifyChange, onChange } from '../../store/changes.ts'
import type { Notifications } from '../../store/notifications.ts'
import type { DB } from '../../store/tables.ts'
import { requireDomain } from '../domain-parameter.ts'
import {
  MAX_MAIL_BYTES,
  MAX_MAILS_PER_TEST,
  MAX_RAW_BODY_BYTES,
  SAVE_INTERVAL_MS,
} from '../limits.ts'
import {
  MailTest,
  MailTestList,
  MailTestQuery,
  NewMailTest,
  RawMail,
  SharedMailTest,
} from '../shapes.ts'
import { createTest } from './create-test.ts'
import {
  deleteTest,
  findSharedTest,
  findTest,
  listMails,
  listTests,
  setShareToken,
  type NewMail,
  type TestRow,
} from './mail-tests.sql.ts'
import { presentListed, presentShared, presentTest, type PresentDeps } from './present-test.ts'
import { reportedMail, requireStored, storeMail, type ReceiveDeps } from './receive-mails.ts'
import { readReportedFacts } from './reported-facts.ts'

export type MailTestRoutesDeps = ReceiveDeps &
  PresentDeps & {
    db: Kysely<DB>
    notifications: Notifications
    /** The email addresses of the workspace’s report mailboxes. */
    listMailboxes: (workspaceId: string) => Promise<string[]>
  }

type RouteContext = { events: EventStreams; reauthenticate: Reauthenticate }

const PATH = '/api/v1/mail-tests'
const params = Type.Object({ id: Uuid })
const notFound = () =>
  new Fault('not_found', 'The mail test was not found. Mail tests are deleted after 7 days.')

/** Registers the route of shared tests, for everyone who has the link. */
export function sharedMailTestRoute(app: App, { db }: Pick<MailTestRoutesDeps, 'db'>): void {
  app.get(
    '/api/v1/shared-mail-tests/:token',
    {
      config: { limit: 'public pages' },
      schema: {
        summary: 'Get a shared mail test',
        params: Type.Object({ token: Type.String({ maxLength: 100 }) }),
        response: responses(Success(SharedMailTest)),
      },
    },
    async (request, reply) => {
      const test = await findSharedTest(db, request.params.token)
      if (!test) throw notFound()
      const data = presentShared(test, await listMails(db, test.id))
      return reply.header('cache-control', 'no-store').send({ success: true, data })
    },
  )
}

/** Registers `/api/v1/mail-tests`. */
export function mailTestRoutes(app: App, deps: MailTestRoutesDeps, context: RouteContext): void {
  createRoute(app, deps)
  rawRoute(app, deps)
  readRoutes(app, deps, context)
  shareRoutes(app, deps)
  app.delete(
    `${PATH}/:id`,
    { schema: { summary: 'Delete a mail test', params, response: responses(Done) } },
    async (request) => {
      const { workspaceId } = callerOf(request)
      if (!(await deleteTest(deps.db, workspaceId, request.params.id))) throw notFound()
      await notifyChange(deps.db, workspaceId, 'checks', request.params.id)
      return { success: true }
    },
  )
}

function createRoute(app: App, deps: MailTestRoutesDeps): void {
  app.post(
    PATH,
    {
      config: { limit: 'mail tests' },
      schema: {
        summary: 'Create a mail test',
        description:
          `Send up to ${MAX_MAILS_PER_TEST} mails to its \`address\` within 24 hours, or to a report mailbox with its \`code\` in ` +
          'the subject. Each is checked as receivers do; the second shows what changed. Mails are erased after 24 hours, findings after 7 days.',
        body: NewMailTest,
        response: responses(Success(MailTest), 201),
      },
    },
    async (request, reply) => {
      const { workspaceId } = callerOf(request)
      const domain = domainOf(request.body.domain)
      const test = await createTest(deps.db, { workspaceId, domain })
      return reply.code(201).send({ success: true, data: await present(deps, test) })
    },
  )
}

function rawRoute(app: App, deps: MailTestRoutesDeps): void {
  app.post(
    `${PATH}/raw`,
    {
      config: { limit: 'mail tests' },
      bodyLimit: MAX_RAW_BODY_BYTES,
      schema: {
        summary: 'Test a mail from a file',
        description:
          'Checks a mail that came elsewhere. Address, greeting and envelope are as given or as its Received fields say, and TLS is not checked.',
        body: RawMail,
        response: responses(Success(MailTest), 201),
      },
    },
    async (request, reply) => {
      const { workspaceId } = callerOf(request)
      const mail = readRawMail(request.body)
      const { test: id, domain } = request.body
      const test =
        id === undefined
          ? await createTest(deps.db, { workspaceId, domain: domainOf(domain) })
          : await findTest(deps.db, workspaceId, id)
      if (!test) throw notFound()
      await requireStored(await storeMail(deps, test.id, mail))
      const stored = (await findTest(deps.db, workspaceId, test.id)) ?? test
      return reply.code(201).send({ success: true, data: await present(deps, stored) })
    },
  )
}

/** @throws Fault `invalid_request` for what is no mail, or an address that is none */
function readRawMail(given: {
  message: string
  encoding: 'utf8' | 'base64'
  ip?: string
  helo?: string
  mailFrom?: string
}): NewMail {
  const content = Buffer.from(given.message, given.encoding)
  if (content.length > MAX_MAIL_BYTES)
    throw new Fault('too_large', 'A mail may have up to 10 MB. Remove its attachments.')
  const message = parseMessage(content)
  if (!message.fields.some(({ name }) => name === 'from' || name === 'received'))
    throw invalidField('message', 'is not a mail with its header')
  const ip = given.ip === undefined ? null : (parseAddress(given.ip)?.address ?? null)
  if (given.ip !== undefined && ip === null) throw invalidField('ip', 'is not an IP address')
  const reported = readReportedFacts(message)
  return reportedMail('raw', content, {
    ...reported,
    ip: ip ?? reported.ip,
    helo: given.helo ?? reported.helo,
    mailFrom: given.mailFrom ?? reported.mailFrom,
  })
}

/** The canonical form of a domain. @throws Fault `invalid_request` */
function domainOf(text: string | undefined): string | null {
  return text === undefined ? null : requireDomain(text)
}

function readRoutes(app: App, deps: MailTestRoutesDeps, context: RouteContext): void {
  const { db, notifications } = deps
  app.get(
    PATH,
    {
      schema: {
        summary: 'List mail tests',
        querystring: MailTestQuery,
        response: responses(MailTestList),
      },
    },
    async (request) => {
      const { domain, ...page } = request.query
      const filter = { ...sliceOf(page), domain: domainOf(domain) ?? undefined }
      const { rows, total } = await listTests(db, callerOf(request).workspaceId, filter)
      return {
        success: true,
        data: rows.map(presentListed),
        pagination: paginationOf(page, total),
      }
    },
  )
  app.get(
    `${PATH}/:id`,
    {
      schema: { summary: 'Get a mail test', params, response: responses(Success(MailTest)) },
    },
    async (request) => ({ success: true, data: await readTest(deps, request, request.params.id) }),
  )
  app.get(
    `${PATH}/:id/events`,
    {
      config: { limit: 'mail test streams' },
      schema: {
        summary: 'Follow a mail test (server-sent events)',
        description: 'Sends an event `mail-test` with the test, then one per change.',
        params,
        produces: ['text/event-stream'],
        response: responsesAs('text/event-stream', MailTest, 'The data of each event'),
      },
    },
    async (request, reply) => {
      const { id } = request.params
      const caller = callerOf(request)
      await context.events.stream(reply, {
        name: 'mail-test',
        read: () => readTest(deps, request, id),
        minIntervalMs: SAVE_INTERVAL_MS,
        recheckAccess: () => context.reauthenticate(request),
        onAccessChange: (recheck) => onAccessChangeOf(notifications, caller, recheck),
        subscribe: (wake) => onChange(notifications, (change) => change.id === id && wake(), wake),
      })
    },
  )
}

async function readTest(deps: MailTestRoutesDeps, request: FastifyRequest, id: string) {
  const test = await findTest(deps.db, callerOf(request).workspaceId, id)
  if (!test) throw notFound()
  return present(deps, test)
}

async function present(deps: MailTestRoutesDeps, test: TestRow) {
  const [mails, mailboxes] = await Promise.all([
    listMails(deps.db, test.id),
    deps.listMailboxes(test.workspaceId),
  ])
  return presentTest(test, mails, mailboxes, deps)
}

function shareRoutes(app: App, deps: MailTestRoutesDeps): void {
  const { db } = deps
  const schema = { params, response: responses(Success(MailTest)) }
  async function setLink(request: FastifyRequest, id: string, token: string | null) {
    const { workspaceId } = callerOf(request)
    const test = await findTest(db, workspaceId, id)
    // A link that is in use stays the same.
    const next = token === null ? null : (test?.shareToken ?? token)
    if (!(await setShareToken(db, workspaceId, id, next))) throw notFound()
    await notifyChange(db, workspaceId, 'checks', id)
    return { success: true, data: await readTest(deps, request, id) }
  }
  app.post(
    `${PATH}/:id/share`,
    {
      schema: {
        ...schema,
        summary: 'Share a mail test by a public link',
        description: 'The link shows the findings until they are deleted, and needs no account.',
      },
    },
    async (request) => setLink(request, request.params.id, randomBytes(18).toString('base64url')),
  )
  app.delete(
    `${PATH}/:id/share`,
    { schema: { ...schema, summary: 'End the public link of a mail test' } },
    async (request) => setLink(request, request.params.id, null),
  )
}
