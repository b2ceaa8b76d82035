import { Type } from 'typebox'
import type { App } from './http-server.ts'
import { DAY_MS } from '../time.ts'

/**
 * Days for which a client may rely on the file. RFC 9116, section 2.5.5, recommends less than a
 * year.
 */
const VALID_DAYS = 180

/**
 * Serves `/.well-known/security.txt` (RFC 9116), where the operator has named a contact.
 * @param contacts URIs, the preferred one first; without any, the file is not served
 * @param baseUrl the origin of the file's canonical address
 */
export function securityTxtRoute(
  app: App,
  { contacts, baseUrl }: { contacts: string[]; baseUrl: string },
): void {
  if (contacts.length === 0) return
  app.get(
    '/.well-known/security.txt',
    {
      schema: {
        summary: 'Get the security contact (RFC 9116)',
        produces: ['text/plain'],
        response: { 200: Type.String() },
      },
    },
    async (_request, reply) => {
      reply.type('text/plain; charset=utf-8').header('cache-control', 'public, max-age=86400')
      return securityTxt(contacts, baseUrl, new Date())
    },
  )
}

/**
 * The file's text. `Expires` is the start of a day, so that the file changes once a day at most.
 */
function securityTxt(contacts: string[], baseUrl: string, now: Date): string {
  const expires = new Date((Math.floor(now.getTime() / DAY_MS) + VALID_DAYS) * DAY_MS)
  const lines = [
    ...contacts.map((contact) => `Contact: ${contact}`),
    `Expires: ${expires.toISOString()}`,
    'Preferred-Languages: en',
    `Canonical: ${baseUrl}/.well-known/security.txt`,
  ]
  return `${lines.join('\n')}\n`
}
