import type { FastifyRequest } from 'fastify'
import type { TokenAuth } from '../tokens/token-auth.ts'

/** The report token of an agent that signed in; undefined for others. */
export async function findSession(
  reportTokens: TokenAuth,
  { headers }: FastifyRequest,
): Promise<string | undefined> {
  const [, token = ''] = /^bearer (\S{1,100})$/i.exec(headers.authorization ?? '') ?? []
  return (await reportTokens.find(token)) ? token : undefined
}
