import { Type, type Static } from 'typebox'
import { nameComponents, Nullable, Timestamp, Uuid } from '../../http/http-schema.ts'
import { SHOWN_NAME } from '../../http/shown-name.ts'
import {
  MAX_ANSWER_TIMES,
  MAX_CONDITION_DEPTH,
  MAX_CONDITIONS,
  MAX_FIELD_CHARS,
  MAX_LISTED_VALUES,
  MAX_DELAY_SECONDS,
  MAX_KEY_MINUTES,
  MAX_RESPONSE_HEADERS,
  MAX_RULE_ANSWERS,
  MAX_RULES,
} from '../limits.ts'

const FAULTS = ['close', 'reset', 'hang', 'truncate', 'trickle'] as const
export type ResponseFault = (typeof FAULTS)[number]

/** Headers of a response that a user chooses. */
export const ResponseHeaders = Type.Array(
  Type.Tuple([Type.String({ maxLength: 100 }), Type.String({ maxLength: 4_096 })]),
  {
    maxItems: MAX_RESPONSE_HEADERS,
    description:
      'Further headers, up to 4 KiB. Headers of the connection, cookies and headers that protect browsers cannot be set.',
  },
)

export const Conditions = Type.Record(Type.String({ maxLength: MAX_FIELD_CHARS }), Type.Unknown(), {
  maxProperties: MAX_CONDITIONS,
  description:
    'Conditions that all have to be met; none by default. Fields: `method`, `path`, `ip`, `verified`, `query.NAME`, `headers.NAME`, ' +
    '`body`, and `body/POINTER`, a JSON Pointer. Operators: `$eq` (also a plain value), `$ne`, `$gt`, `$gte`, `$lt`, `$lte`, ' +
    `\`$in\` and \`$nin\` (up to ${MAX_LISTED_VALUES} values), \`$startsWith\`, \`$endsWith\`, \`$contains\`, \`$exists\`. ` +
    `Conditions are combined with \`$and\`, \`$or\` and \`$not\`, up to ${MAX_CONDITION_DEPTH} levels and ${MAX_CONDITIONS} conditions.`,
})

const MAX_DELAY_MS = MAX_DELAY_SECONDS * 1_000
const Milliseconds = Type.Integer({ minimum: 0, maximum: MAX_DELAY_MS })
const Delay = Type.Union([Milliseconds, Type.Object({ min: Milliseconds, max: Milliseconds })], {
  description: `Milliseconds before the response, up to ${MAX_DELAY_MS}: a number, or a range of which each response gets a random one.`,
})

const ANSWER = {
  status: Type.Integer({ minimum: 200, maximum: 599, description: '200 by default.' }),
  headers: ResponseHeaders,
  body: Type.String({ maxLength: 65_536, description: 'Up to 64 KiB.' }),
  type: Type.String({ maxLength: 1_000, description: 'The media type of the body.' }),
  template: Type.Boolean({ description: 'Replaces placeholders in the body, as in the response.' }),
  delayMs: Delay,
  fault: Nullable(Type.Enum([...FAULTS]), {
    description:
      '`close` ends the connection without a response, `reset` resets it, `hang` sends nothing for a minute, `truncate` ends it ' +
      'within the body, `trickle` sends the body in small parts. A reverse proxy in front turns the first three into 502 and 504.',
  }),
  times: Type.Integer({
    minimum: 1,
    maximum: MAX_ANSWER_TIMES,
    description: 'Requests that get this answer before the next one follows.',
  }),
}

export const RuleAnswer = Type.Object(ANSWER)
export type RuleAnswer = Static<typeof RuleAnswer>

const GivenAnswer = Type.Object({
  status: Type.Optional(ANSWER.status),
  headers: Type.Optional(ANSWER.headers),
  body: Type.Optional(ANSWER.body),
  type: Type.Optional(ANSWER.type),
  template: Type.Optional(ANSWER.template),
  delayMs: Type.Optional(ANSWER.delayMs),
  fault: Type.Optional(ANSWER.fault),
  times: Type.Optional(ANSWER.times),
})

const RULE = {
  label: Type.String({ pattern: SHOWN_NAME, maxLength: 100, description: 'A name of your own.' }),
  enabled: Type.Boolean({ description: '`true` by default.' }),
  when: Conditions,
  after: Type.Enum(['last', 'repeat'], {
    description: 'After all answers: the last one again, or from the first one on.',
  }),
  key: Nullable(Type.String({ minLength: 1, maxLength: MAX_FIELD_CHARS }), {
    description:
      'A field such as `headers.webhook-id` or `body/id`: each of its values has a sequence of its own. Null: all requests share one.',
  }),
  keyMinutes: Type.Integer({
    minimum: 1,
    maximum: MAX_KEY_MINUTES,
    description: 'Minutes after its last request until the sequence of a key starts again.',
  }),
}

const EXAMPLE = {
  label: 'unavailable twice',
  when: { method: 'POST', 'body/type': { $in: ['order.paid', 'order.refunded'] } },
  answers: [
    { status: 503, headers: [['Retry-After', '5']], times: 2 },
    { status: 200, body: '{"ok":true}', type: 'application/json' },
  ],
  key: 'headers.webhook-id',
}

export const WebhookRule = Type.Object({
  id: Uuid,
  ...RULE,
  answers: Type.Array(RuleAnswer),
  createdAt: Timestamp,
})
export type WebhookRule = Static<typeof WebhookRule>

const GIVEN_RULE = {
  label: Type.Optional(RULE.label),
  enabled: Type.Optional(RULE.enabled),
  when: Type.Optional(RULE.when),
  after: Type.Optional(RULE.after),
  key: Type.Optional(RULE.key),
  keyMinutes: Type.Optional(RULE.keyMinutes),
}
const GivenAnswers = Type.Array(GivenAnswer, {
  minItems: 1,
  maxItems: MAX_RULE_ANSWERS,
  description: 'One answer for all requests, or a sequence.',
})

export const NewRule = Type.Object(
  { ...GIVEN_RULE, answers: GivenAnswers },
  { examples: [EXAMPLE] },
)

/** Given settings are changed; omitted ones stay unchanged. */
export const RuleChange = Type.Object(
  { ...GIVEN_RULE, answers: Type.Optional(GivenAnswers) },
  { examples: [{ enabled: false }] },
)
export type RuleSettings = Static<typeof RuleChange>

export const RuleOrder = Type.Object({
  ids: Type.Array(Uuid, {
    maxItems: MAX_RULES,
    description: 'The ids of all rules, first one first.',
  }),
})

export const RulePreview = Type.Object({
  success: Type.Literal(true),
  answering: Nullable(Uuid, {
    description: 'The rule that answers such a request; null: the response of the endpoint.',
  }),
  rules: Type.Array(Type.Object({ id: Uuid, enabled: Type.Boolean(), matches: Type.Boolean() })),
})

/** The rule that answered a captured request. */
export const AnsweredBy = Nullable(
  Type.Object({
    ruleId: Uuid,
    label: Type.String(),
    answer: Type.Integer({ description: 'The number of the answer in its rule, from 1 on.' }),
    key: Nullable(Type.String()),
    fault: Nullable(Type.Enum([...FAULTS])),
  }),
  { description: 'The rule that answered the request; null for the response of the endpoint.' },
)
export type AnsweredBy = NonNullable<Static<typeof AnsweredBy>>

nameComponents({ WebhookRule, NewWebhookRule: NewRule, WebhookRuleChange: RuleChange })
