import type { Kysely } from 'kysely'
import { callerOf } from '../../http/auth.ts'
import { responses, Success } from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import type { DB } from '../../store/tables.ts'
import { requireDomain } from '../domain-parameter.ts'
import { findSpamRates } from './find-spam-rates.ts'
import { SpamRates, SpamRatesQuery } from './shapes.ts'

/** Registers `/api/v1/spam-rates`. */
export function spamRateRoutes(app: App, { db }: { db: Kysely<DB> }): void {
  app.get(
    '/api/v1/spam-rates',
    {
      schema: {
        summary: 'Get the spam rates of a domain at providers',
        description:
          'By day, as Google Postmaster Tools, Microsoft SNDS and complaint mails say, beside DMARC failures and blocklists. No data is missing, never 0.',
        querystring: SpamRatesQuery,
        response: responses(Success(SpamRates)),
      },
    },
    async (request) => {
      const { domain, days } = request.query
      const { workspaceId } = callerOf(request)
      const subject = { workspaceId, domain: requireDomain(domain) }
      return { success: true, data: await findSpamRates(db, subject, days) }
    },
  )
}
