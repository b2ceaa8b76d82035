import { Type, type Static } from 'typebox'
import { MAX_LENGTH, nameComponents, Nullable, Timestamp } from '../../http/http-schema.ts'
import { MAX_SUMMARY_DAYS } from '../limits.ts'
import { GoogleRequirement, PostmasterDay } from '../postmaster/shapes.ts'
import { SndsDay } from '../snds/shapes.ts'
import { SPAM_RATE_LEVELS } from './spam-rate.ts'

const Day = Type.String({ description: 'A day as the source counts it.', examples: ['2026-11-28'] })

const ProviderRates = Type.Object({
  provider: Type.String({ examples: ['google'] }),
  source: Type.Enum(['postmaster', 'complaints', 'snds']),
  name: Type.String(),
  days: Type.Array(
    Type.Object({
      day: Day,
      low: Type.Number({ description: '0 to 1.' }),
      high: Nullable(
        Type.Number({
          description: 'The same as `low`, unless the provider says a range; null without an end.',
        }),
      ),
    }),
    { description: 'Only days with data: a day that is missing is not 0.' },
  ),
})
export type ProviderRates = Static<typeof ProviderRates>

export const SpamRates = Type.Object({
  domain: Type.String(),
  days: Type.Array(Day, { description: 'All days of the summary, in UTC.' }),
  providers: Type.Array(ProviderRates),
  alerts: Type.Array(
    Type.Object({ provider: Type.String(), level: Type.Enum([...SPAM_RATE_LEVELS]) }),
    { description: 'Limits that rates have reached: `raised` from 0.1%, `high` from 0.3%.' },
  ),
  dmarc: Type.Array(Type.Object({ day: Day, messages: Type.Integer(), failures: Type.Integer() }), {
    description: 'Messages in DMARC reports, and how many failed. Only days with reports.',
  }),
  listings: Type.Array(Type.Object({ day: Day, hosts: Type.Integer(), listed: Type.Integer() }), {
    description:
      'Monitored hosts of the domain, and how many were on a blocklist. Only days with a check.',
  }),
  google: Type.Object({
    state: Nullable(Type.Enum(['available', 'no-access', 'failed']), {
      description: 'Null until Google was asked.',
    }),
    problem: Nullable(Type.String()),
    days: Type.Array(PostmasterDay),
    evaluatedDomain: Nullable(Type.String({ description: 'Whose compliance Google evaluates.' })),
    evaluatedAt: Nullable(Timestamp),
    requirements: Type.Array(GoogleRequirement),
  }),
  addresses: Type.Array(SndsDay, {
    description: 'What SNDS last said of the domain’s addresses.',
  }),
})
export type SpamRates = Static<typeof SpamRates>

export const SpamRatesQuery = Type.Object({
  domain: Type.String({ maxLength: MAX_LENGTH.host, examples: ['example.com'] }),
  days: Type.Integer({ minimum: 1, maximum: MAX_SUMMARY_DAYS, default: 30 }),
})

nameComponents({ SpamRates })
