import type { FastifyRequest } from 'fastify'
import type { TSchema } from 'typebox'
import { Fault } from '../../errors.ts'
import { ApiFailure } from '../fleet/crowdsec/shapes.ts'
import { TAGS } from '../tags.ts'
import type { TokenOwner } from '../tokens/store.ts'
import type { TokenAuth } from '../tokens/token-auth.ts'
import { AgentHeaders } from './shapes.ts'

/** An agent that signed in: its report token, and whose it is. */
export type AgentSession = TokenOwner & { token: string }

/** The session of an agent that signed in; undefined for others. */
export async function findSession(
  reportTokens: TokenAuth,
  { headers }: FastifyRequest,
): Promise<AgentSession | undefined> {
  const [, token = ''] = /^bearer (\S{1,100})$/i.exec(headers.authorization ?? '') ?? []
  const owner = await reportTokens.find(token)
  return owner ? { ...owner, token } : undefined
}

/** @throws Fault `unauthenticated`: the agent signs in again */
export async function requireSession(
  { reportTokens }: { reportTokens: TokenAuth },
  request: FastifyRequest,
): Promise<AgentSession> {
  const session = await findSession(reportTokens, request)
  if (session) return session
  throw new Fault('unauthenticated', 'cookie token is empty')
}

/** The schema of a route that agents use once they signed in. */
export const describeAgentRoute = <Success extends Record<number, TSchema>>(
  operationId: string,
  summary: string,
  success: Success,
) => ({
  operationId,
  summary,
  tags: TAGS,
  headers: AgentHeaders,
  response: { ...success, '4xx': ApiFailure, '5xx': ApiFailure },
})
