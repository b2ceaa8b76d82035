import { randomInt } from 'node:crypto'
import type { Kysely } from 'kysely'
import { callerOf } from '../../http/auth.ts'
import { Fault } from '../../errors.ts'
import { Done, responses, Success } from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import { notifyChange } from '../../store/changes.ts'
import type { DB } from '../../store/tables.ts'
import { requireDomain } from '../domain-parameter.ts'
import { MAX_GROUP_ROWS } from '../limits.ts'
import { listSpamRateLevels } from '../spam-rates/spam-rate-alerts.sql.ts'
import { rateOf } from './complaint-rates.ts'
import {
  deleteAddress,
  findAddress,
  insertAddress,
  sumByCampaign,
  sumByDomain,
  sumBySource,
  type AddressRow,
} from './complaints.sql.ts'
import { findProviders } from './find-providers.ts'
import { complaintAddress } from './receive-complaints.ts'
import { ComplaintAddress, ComplaintQuery, ComplaintSummary } from './shapes.ts'

export type ComplaintRoutesDeps = {
  db: Kysely<DB>
  reportDomain: string
  isListening: boolean
  /** The email addresses of the workspace’s report mailboxes. */
  listMailboxes: (workspaceId: string) => Promise<string[]>
}

const PATH = '/api/v1/complaints'

/** Registers `/api/v1/complaints`. */
export function complaintRoutes(app: App, deps: ComplaintRoutesDeps): void {
  const { db } = deps
  app.get(
    PATH,
    {
      schema: {
        summary: 'Summarize complaints',
        description:
          'Complaints of recipients that providers report (ARF), by provider, source, domain and campaign. A provider that never reported one has no data, which is not 0.',
        querystring: ComplaintQuery,
        response: responses(Success(ComplaintSummary)),
      },
    },
    async (request) => {
      const { domain, days } = request.query
      const filter = {
        workspaceId: callerOf(request).workspaceId,
        domain: domain === undefined ? null : requireDomain(domain),
        days,
      }
      return { success: true, data: await summarize(deps, filter) }
    },
  )
  app.post(
    `${PATH}/address`,
    {
      schema: {
        summary: 'Create the address for complaints',
        description:
          'The address to enter in the feedback loops of providers. A workspace has one; if it exists, it stays the same.',
        response: responses(Success(ComplaintAddress), 201),
      },
    },
    async (request, reply) => {
      const { workspaceId } = callerOf(request)
      await insertAddress(db, workspaceId, newMailbox())
      await notifyChange(db, workspaceId, 'checks', workspaceId)
      const row = await findAddress(db, workspaceId)
      if (!row) throw notFound()
      return reply.code(201).send({ success: true, data: presentAddress(row, deps) })
    },
  )
  app.delete(
    `${PATH}/address`,
    {
      schema: {
        summary: 'Delete the address for complaints',
        description: 'Mail to it is rejected from now on. Complaints are kept for 400 days.',
        response: responses(Done),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      if (!(await deleteAddress(db, workspaceId))) throw notFound()
      await notifyChange(db, workspaceId, 'checks', workspaceId)
      return { success: true }
    },
  )
}

const notFound = () => new Fault('not_found', 'This workspace has no address for complaints.')

async function summarize(
  deps: ComplaintRoutesDeps,
  filter: { workspaceId: string; domain: string | null; days: number },
) {
  const { db } = deps
  const { workspaceId, domain, days } = filter
  const [row, mailboxes, providers, levels, sources, domains, campaigns] = await Promise.all([
    findAddress(db, workspaceId),
    deps.listMailboxes(workspaceId),
    findProviders(db, filter, new Date()),
    domain === null ? [] : listSpamRateLevels(db, workspaceId, domain),
    sumBySource(db, filter, MAX_GROUP_ROWS),
    sumByDomain(db, filter, MAX_GROUP_ROWS),
    sumByCampaign(db, filter, MAX_GROUP_ROWS),
  ])
  return {
    address: row ? presentAddress(row, deps) : null,
    mailboxes,
    days,
    providers: providers.map((provider) => {
      const rate = rateOf(provider.days)
      return {
        ...provider,
        messages: rate?.messages ?? null,
        rate: rate?.rate ?? null,
        alert: levels.find((level) => level.provider === provider.provider)?.level ?? null,
      }
    }),
    sources,
    domains,
    campaigns,
  }
}

function presentAddress(
  { mailbox, createdAt, otherMails, otherFrom, otherSubject, otherAt }: AddressRow,
  { reportDomain, isListening }: ComplaintRoutesDeps,
) {
  const address = isListening ? complaintAddress(mailbox, reportDomain) : null
  return { address, createdAt, otherMails, otherFrom, otherSubject, otherAt }
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567'

/** 85 random bits in lower case after a letter, as those of report addresses. */
function newMailbox(): string {
  return `f${Array.from({ length: 17 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')}`
}
