import { digestOfDelistings } from '../../src/delisting/delisting-digest.sql.ts'
import {
  deliverDigest,
  findDueDigests,
  type DeliveryDeps,
} from '../../src/digest/delivery/deliver-digest.ts'
import { createDigestModule } from '../../src/digest/module.ts'
import { digestOfDomains } from '../../src/domains/domains-digest.sql.ts'
import { addRoutes } from '../../src/http/scopes.ts'
import { SECRET_KEY, startAlertsContext, type AlertsTestOptions } from '../alerts/module.ts'

export const READERS = { domains: digestOfDomains, delistings: digestOfDelistings }

export type DigestTest = Awaited<ReturnType<typeof startDigests>>

export type ShownDigest = {
  frequency: string
  weekday: number
  hour: number
  timeZone: string
  email: string
  problem: string | null
  nextAt: string | null
  lastOutcome: string | null
  lastError: string | null
}

/** One instance with the digest alone, whose clock is the argument of `run`; several may share a database. */
export async function startDigests(databaseUrl: string, options: AlertsTestOptions = {}) {
  const context = await startAlertsContext(databaseUrl, options)
  const { db, app, authHooks, config, log } = context
  const digest = createDigestModule({ ...context, readers: READERS, secretKey: SECRET_KEY })
  addRoutes(app, authHooks, [digest.routes], {})
  await context.open()
  const deps: DeliveryDeps = {
    db,
    readers: READERS,
    relay: config.SMTP_URL ? { smtpUrl: config.SMTP_URL, from: config.MAIL_FROM } : null,
    secretKey: SECRET_KEY,
    previousKey: undefined,
    baseUrl: config.BASE_URL,
    log,
  }
  return {
    ...context,
    deps,
    /** Sends what is due at this time, as the jobs do. */
    async run(at: string | Date, signal = new AbortController().signal): Promise<void> {
      const now = new Date(at)
      for (const member of await findDueDigests(deps, now))
        await deliverDigest(deps, member, { now, signal })
    },
    /** Sets the schedule as of a time, without the spread. */
    async schedule(
      member: { workspaceId: string; accountId: string },
      dueAt: string,
    ): Promise<void> {
      const at = new Date(dueAt)
      await db
        .updateTable('digestSubscription')
        .set({ dueAt: at, attemptAt: at })
        .where('workspaceId', '=', member.workspaceId)
        .where('accountId', '=', member.accountId)
        .execute()
    },
  }
}
