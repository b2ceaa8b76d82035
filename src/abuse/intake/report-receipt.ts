import type { FastifyReply, FastifyRequest } from 'fastify'
import { hashReportToken } from '../tokens/report-tokens.ts'
import type { SubmissionResult } from './commit.ts'
import { rateHeaders, tooMany } from './rate.ts'

/**
 * The hash of the token with which a request reports: of `X-Report-Token`, of `Authorization:
 * Bearer` or of `?token=`. Null without one. A malformed token counts as unknown, as a revoked one
 * does.
 */
export function tokenHashOf({ headers, query }: FastifyRequest): string | null {
  const [, bearer] = /^bearer +(.+)$/i.exec(headers.authorization ?? '') ?? []
  const { token: parameter } = query as { token?: string }
  const token = String(headers['x-report-token'] ?? '') || bearer || parameter
  if (!token) return null
  return hashReportToken(token.trim()) ?? '00'
}

/** Sends the remaining rate. @throws Fault `rate_limited` */
export function requireAllowed(reply: FastifyReply, { allowance }: SubmissionResult): void {
  reply.headers(rateHeaders(allowance))
  if (!allowance.allowed) throw tooMany(allowance)
}

/** The server that reports count for, by the label of its token; a warning without one. */
export function serverOf({ unknownToken, token }: SubmissionResult): {
  server?: string
  warning?: string
} {
  if (token) return { server: token.label }
  if (!unknownToken) return {}
  return { warning: 'The report token is unknown or revoked. The report counts as anonymous.' }
}
