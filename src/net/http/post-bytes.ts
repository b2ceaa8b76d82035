import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { readBody } from './guarded-request.ts'

const MAX_ANSWER_BYTES = 2 * 1024 * 1024

/**
 * Posts bytes to a service of the operator: its URL is a setting, so it may be anywhere.
 * @throws the error of the connection or of the signal; Fault `upstream_rejected` for an answer of
 *   more than 2 MiB
 */
export async function postBytes(
  url: URL,
  content: Buffer,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<{ status: number; body: string }> {
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest
  const options = {
    method: 'POST',
    headers: { ...headers, 'content-length': content.length },
    signal,
  }
  const request = send(url, options)
  request.end(content)
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  // The response reports later errors, too.
  request.on('error', () => {})
  const body = await readBody(response, url.host, MAX_ANSWER_BYTES)
  return { status: response.statusCode ?? 0, body: body.toString() }
}
