import {
  configuredResponse,
  encodeBody,
  type CaptureResponse,
} from '../capture/capture-responses.ts'
import { fillTemplate } from '../capture/response-template.ts'
import { parseConditions, readsVerified, type Matcher } from '../conditions/conditions.ts'
import {
  createRequestValues,
  parseField,
  type Field,
  type ReadableRequest,
} from '../conditions/request-values.ts'
import { sendableHeaders } from '../endpoints/response-headers.ts'
import type { AnsweredBy, ResponseFault, RuleAnswer } from './shapes.ts'
import { storedKey, type Sequences } from './sequences.ts'
import type { RuleRow } from './webhook-rules.sql.ts'

/** A rule, prepared once for many requests. */
export type PreparedRule = {
  id: string
  label: string
  matches: Matcher
  answers: PreparedAnswer[]
  /** Requests until the last answer; null for a rule with one answer, which counts nothing. */
  total: number | null
  repeats: boolean
  key: Field | null
  keyMinutes: number
}

type PreparedAnswer = RuleAnswer & { response: CaptureResponse }

/** The rules of an endpoint, with what they need to answer. */
export type PreparedRules = {
  all: PreparedRule[]
  cors: boolean
  /** The secret that templates sign with. */
  secret: string
  /** Whether a rule depends on the sender’s signature. */
  readVerified: boolean
  /** Bytes of all answers, for the limit of the cache. */
  bytes: number
}

/** The answer of a rule to one request. */
export type RuleDecision = {
  response: CaptureResponse
  delayMs: number
  fault: ResponseFault | null
  answeredBy: AnsweredBy
}

/** Prepares the rules that are enabled. */
export function prepareRules(
  rows: RuleRow[],
  { cors, secret, hasOwnOrigin }: { cors: boolean; secret: string; hasOwnOrigin: boolean },
): PreparedRules {
  const enabled = rows.filter((row) => row.enabled)
  const all = enabled.flatMap((row): PreparedRule[] => {
    const parsed = parseConditions(row.when)
    // A rule of a later version, whose conditions this one does not know, matches nothing.
    if ('wrong' in parsed) return []
    const { id, label, answers, after, key, keyMinutes } = row
    return [
      {
        id,
        label,
        matches: parsed.matches,
        answers: answers.map((answer) => prepareAnswer(answer, cors, hasOwnOrigin)),
        total: answers.length === 1 ? null : answers.reduce((sum, { times }) => sum + times, 0),
        repeats: after === 'repeat',
        key: key === null ? null : parseField(key),
        keyMinutes,
      },
    ]
  })
  return {
    all,
    cors,
    secret,
    readVerified: enabled.some(({ when }) => readsVerified(when)),
    bytes: all.reduce((sum, { answers }) => sum + bytesOf(answers), 0),
  }
}

function prepareAnswer(answer: RuleAnswer, cors: boolean, hasOwnOrigin: boolean): PreparedAnswer {
  const headers = sendableHeaders(answer.headers, hasOwnOrigin)
  const settings = { responseStatus: answer.status, responseType: answer.type, cors }
  return { ...answer, response: configuredResponse(settings, encodeBody(answer.body), headers) }
}

const bytesOf = (answers: PreparedAnswer[]) =>
  answers.reduce((sum, { body }) => sum + 2 * body.length + 200, 0)

/**
 * Finds the first rule that matches a request, and its answer.
 * @param isVerified verifies the signature of the sender
 * @returns null when no rule matches
 * @throws when the database cannot count a sequence
 */
export async function applyRules(
  rules: PreparedRules,
  request: ReadableRequest,
  { sequences, isVerified }: { sequences: Sequences; isVerified: () => boolean },
): Promise<RuleDecision | null> {
  const values = createRequestValues(request, isVerified)
  const rule = rules.all.find(({ matches }) => matches(values))
  if (!rule) return null
  const key = rule.key === null ? null : storedKey(values.textOf(rule.key) ?? '')
  const index =
    rule.total === null
      ? 0
      : answerAt(
          rule,
          await sequences.next({
            ruleId: rule.id,
            key: key ?? '',
            minutes: key === null ? null : rule.keyMinutes,
          }),
        )
  const answer = rule.answers[index] as PreparedAnswer
  return {
    response: answer.template ? fillAnswer(answer, rules, request) : answer.response,
    delayMs: delayOf(answer.delayMs),
    fault: answer.fault,
    answeredBy: {
      ruleId: rule.id,
      label: rule.label,
      answer: index + 1,
      key,
      fault: answer.fault,
    },
  }
}

function fillAnswer(
  { body, type, response }: PreparedAnswer,
  { secret }: PreparedRules,
  request: ReadableRequest,
): CaptureResponse {
  if (response.body === '' && body !== '') return response
  return { ...response, body: fillTemplate(body, type, { ...request, secret }) }
}

/** The index of the answer to the request of this number. */
export function answerAt(
  {
    answers,
    total,
    repeats,
  }: Pick<PreparedRule, 'total' | 'repeats'> & {
    answers: { times: number }[]
  },
  number: number,
): number {
  const sum = total ?? 1
  let left = repeats ? (number - 1) % sum : Math.min(number, sum) - 1
  const index = answers.findIndex(({ times }) => (left -= times) < 0)
  return index === -1 ? answers.length - 1 : index
}

function delayOf(delayMs: RuleAnswer['delayMs']): number {
  if (typeof delayMs === 'number') return delayMs
  return delayMs.min + Math.random() * (delayMs.max - delayMs.min)
}
