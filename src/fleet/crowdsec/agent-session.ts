import type { FastifyRequest } from 'fastify'
import type { TokenOwner } from '../../abuse/tokens/report-tokens.sql.ts'
import type { TokenAuth } from '../../abuse/tokens/token-auth.ts'

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
