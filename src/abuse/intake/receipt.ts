import type { FastifyReply, FastifyRequest } from 'fastify'
import { hashReportToken } from '../tokens/tokens.ts'
import type { SubmissionResult } from './commit.ts'
import { rateHeaders, tooMany } from './rate.ts'

/** Null without a token. A malformed token counts as unknown, as a revoked one does. */
export function tokenHashOf(request: FastifyRequest): string | null {
  const token = request.headers['x-report-token']
  if (token === undefined || token === '') return null
  return hashReportToken(String(token)) ?? '00'
}

/** Sends the remaining rate. @throws Fault `rate_limited` */
export function requireAllowed(reply: FastifyReply, { allowance }: SubmissionResult): void {
  reply.headers(rateHeaders(allowance))
  if (!allowance.allowed) throw tooMany(allowance)
}

export function warningOf({ unknownToken }: SubmissionResult): { warning?: string } {
  if (!unknownToken) return {}
  return { warning: 'X-Report-Token is unknown or revoked. The report counts as anonymous.' }
}
