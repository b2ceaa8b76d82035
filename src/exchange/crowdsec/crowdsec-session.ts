import type { FastifyRequest } from 'fastify'
import type { TSchema } from 'typebox'
import { Fault } from '../../errors.ts'
import { ApiFailure } from '../../fleet/crowdsec/shapes.ts'
import { findSession, type AgentSession } from '../../fleet/crowdsec/agent-session.ts'
import type { TokenAuth } from '../../abuse/tokens/token-auth.ts'
import { AgentHeaders } from './shapes.ts'

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
  headers: AgentHeaders,
  response: { ...success, '4xx': ApiFailure, '5xx': ApiFailure },
})
