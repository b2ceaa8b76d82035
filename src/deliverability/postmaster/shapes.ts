import { Type, type Static } from 'typebox'
import { nameComponents, Nullable, Timestamp, Uuid } from '../../http/http-schema.ts'
import { REQUIREMENTS } from './postmaster-answers.ts'

export const ACCESS_STATES = ['active', 'failing', 'ended'] as const

const PostmasterDomain = Type.Object({
  domain: Type.String(),
  state: Type.Enum(['available', 'no-access', 'failed'], {
    description:
      '`no-access`: Google shows the account no statistics of it. `failed`: Google rejected the question.',
  }),
  problem: Nullable(Type.String()),
  checkedAt: Timestamp,
})

export const PostmasterAccess = Type.Object({
  isOffered: Type.Boolean({
    description: 'Whether the operator has set up signing in at Google for this service.',
  }),
  access: Nullable(
    Type.Object({
      account: Type.String({ description: 'Who signed in at Google.' }),
      credentialId: Nullable(Uuid, { description: 'To renew the sign-in; null if deleted.' }),
      state: Type.Enum([...ACCESS_STATES], {
        description:
          '`failing`: the last fetch failed and is repeated. `ended`: a person must sign in again.',
      }),
      problem: Nullable(Type.String()),
      fetchedAt: Nullable(Timestamp),
      nextFetchAt: Nullable(Timestamp),
    }),
  ),
  domains: Type.Array(PostmasterDomain),
})
export type PostmasterAccess = Static<typeof PostmasterAccess>

export const NewPostmasterAccess = Type.Object(
  { credentialId: Uuid },
  { examples: [{ credentialId: '019a0000-0000-7000-8000-000000000000' }] },
)

const Rate = (description: string) => Nullable(Type.Number({ description }), {})

const Errors = Type.Object({
  type: Type.Enum(['reject', 'temp_fail']),
  reason: Type.String({ examples: ['low_domain_reputation'] }),
  count: Type.Integer(),
})

/** Statistics of one day. Null is “no data”, never 0. */
export const PostmasterDay = Type.Object({
  day: Type.String({ description: 'A day as Google counts it.', examples: ['2026-11-28'] }),
  spamRate: Rate('0 to 1; null without data.'),
  spfRate: Rate('Share of messages that pass SPF.'),
  dkimRate: Rate('Share of messages that pass DKIM.'),
  dmarcRate: Rate('Share of messages that pass DMARC.'),
  tlsInboundRate: Rate('Share of messages to Gmail that came over TLS.'),
  tlsOutboundRate: Rate('Share of messages from Gmail that went over TLS.'),
  errorRate: Rate('Share of messages that were rejected or deferred.'),
  errorCount: Nullable(Type.Integer(), { description: 'Messages that were.' }),
  errors: Type.Array(Errors, { description: 'Counts by type and reason, as far as known.' }),
  loops: Type.Array(Type.Object({ id: Type.String(), spamRate: Type.Number() }), {
    description: 'Spam rates by identifier of the feedback loop.',
  }),
})
export type PostmasterDay = Static<typeof PostmasterDay>

export const GoogleRequirement = Type.Object({
  requirement: Type.Enum([...REQUIREMENTS]),
  state: Type.Enum(['compliant', 'needs-work', 'unknown']),
  reason: Nullable(Type.String({ description: 'What Google found, in its words.' })),
  title: Type.String(),
  action: Nullable(Type.String({ description: 'What to do; null where nothing is.' })),
})
export type GoogleRequirement = Static<typeof GoogleRequirement>

nameComponents({ PostmasterAccess, PostmasterDay, GoogleRequirement })
