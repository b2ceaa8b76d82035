import { Type } from 'typebox'
import { Fault } from '../../errors.ts'
import { callerOf } from '../../http/auth.ts'
import { Done, Nullable, responses, Uuid } from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import { notifyChange } from '../../store/changes.ts'
import { requireDomain } from '../domains/domains.ts'
import { MAX_DAILY_DAYS, MAX_DAILY_SENDERS, MAX_SENDER_MARKS } from '../limits.ts'
import { byId, type RouteDeps } from '../route-deps.ts'
import { SENDER_MARKS, SenderDays, SummaryQuery } from '../shapes.ts'
import { findRange } from '../summary/range.ts'
import { describeSenderDays } from './daily.ts'
import { countMarks, deleteMark, saveMark } from './sender-marks.sql.ts'

const params = Type.Object({
  id: Uuid,
  sender: Type.String({
    pattern: '^(service|host|ip):[a-z0-9.:_-]+$',
    maxLength: 260,
    description: 'The ID of a sender in the summary.',
  }),
})

/** `…/senders/{sender}`: daily counts by sender, and whether a sender belongs to the owner of the domain. */
export function senderRoutes(app: App, { db }: Pick<RouteDeps, 'db'>): void {
  app.get(
    '/api/v1/dmarc/domains/:id/senders/daily',
    {
      schema: {
        summary: 'Count messages by sender and day',
        description: `The ${MAX_DAILY_SENDERS} senders with most messages each, and the others together. The newest ${MAX_DAILY_DAYS} days with messages.`,
        params: byId,
        querystring: SummaryQuery,
        response: responses(SenderDays),
      },
    },
    async (request) => {
      const domain = await requireDomain(db, callerOf(request).workspaceId, request.params.id)
      const range = await findRange(db, domain.id, request.query)
      return { success: true, data: await describeSenderDays(db, domain, range) }
    },
  )
  app.put(
    '/api/v1/dmarc/domains/:id/senders/:sender',
    {
      schema: {
        summary: 'Mark a sender as yours, not yours, or a forwarder',
        description:
          'The readiness in the summary counts senders marked `mine`, and unmarked senders with messages that passed. Null removes the mark.',
        params,
        body: Type.Object({ mark: Nullable(Type.Enum([...SENDER_MARKS])) }),
        response: responses(Done),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      const { id: domainId } = await requireDomain(db, workspaceId, request.params.id)
      const { sender } = request.params
      const { mark } = request.body
      if (mark === null) await deleteMark(db, domainId, sender)
      else {
        await requireRoom(db, domainId)
        await saveMark(db, { domainId, sender, mark })
      }
      await notifyChange(db, workspaceId, 'dmarc', domainId)
      return { success: true as const }
    },
  )
}

/** A concurrent request may add one more; the limit only bounds the table. */
async function requireRoom(db: RouteDeps['db'], domainId: string): Promise<void> {
  if ((await countMarks(db, domainId)) < MAX_SENDER_MARKS) return
  throw new Fault(
    'conflict',
    `A domain can have up to ${MAX_SENDER_MARKS.toLocaleString('en')} marked senders. Remove a mark first.`,
  )
}
