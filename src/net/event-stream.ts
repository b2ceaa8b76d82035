import { Fault, messageOf } from '../errors.ts'

/** One server-sent event; `id` is the last one that the stream named. */
export type ServerEvent = { id: string; name: string; data: string }

/** Characters of one event; the largest of ours carries a body of one mebibyte in base64. */
const LONGEST = 4 * 1024 * 1024

/**
 * Asks one of our own services for JSON.
 * @throws Fault with the service's sentence, `upstream_unreachable` when it does not answer
 */
export async function askService<T>(url: URL, token: string, signal: AbortSignal): Promise<T> {
  const response = await get(url, { authorization: `Bearer ${token}`, accept: 'application/json' }, signal)
  return (await response.json()) as T
}

/**
 * Follows a stream of one of our own services until it ends.
 * @param after the id of the last event that was seen; null for what comes from now on
 * @throws Fault as `askService`; also when the stream breaks off
 */
export async function* followEvents(
  url: URL,
  { token, after }: { token: string; after: string | null },
  signal: AbortSignal,
): AsyncGenerator<ServerEvent> {
  const headers: Record<string, string> = { authorization: `Bearer ${token}`, accept: 'text/event-stream' }
  if (after !== null) headers['last-event-id'] = after
  const { body } = await get(url, headers, signal)
  if (!body) return
  try {
    yield* readEvents(body.pipeThrough(new TextDecoderStream()))
  } catch (cause) {
    if (signal.aborted) return
    throw new Fault('upstream_unreachable', `The stream broke off: ${messageOf(cause)}.`, { cause })
  }
}

/** Reads events from text in pieces, as the HTML standard describes them (9.2.6); comments and `retry` are passed over. */
export async function* readEvents(pieces: AsyncIterable<string>): AsyncGenerator<ServerEvent> {
  let rest = ''
  let id = ''
  for await (const piece of pieces) {
    rest += piece
    const blocks = rest.split('\n\n')
    rest = blocks.pop() ?? ''
    if (rest.length > LONGEST) throw new Error('an event is too long')
    for (const block of blocks) {
      const fields = fieldsOf(block)
      id = fields.get('id') ?? id
      const data = fields.get('data')
      if (data !== undefined) yield { id, name: fields.get('event') ?? 'message', data }
    }
  }
}

function fieldsOf(block: string): Map<string, string> {
  const fields = new Map<string, string>()
  for (const line of block.split('\n')) {
    const [, name = '', value = ''] = /^([^:]+)(?:: ?(.*))?$/s.exec(line) ?? []
    const before = fields.get(name)
    fields.set(name, name === 'data' && before !== undefined ? `${before}\n${value}` : value)
  }
  return fields
}

async function get(url: URL, headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
  const response = await fetch(url, { headers, signal }).catch((cause: unknown) => {
    throw new Fault('upstream_unreachable', `${url.origin} does not answer: ${reasonOf(cause)}.`, { cause })
  })
  if (response.ok) return response
  const answer = (await response.json().catch(() => ({}))) as { error?: string }
  const sentence = answer.error ?? `answered with ${response.status}.`
  const code = response.status === 401 ? 'unauthenticated' : response.status === 404 ? 'not_found' : 'upstream_rejected'
  throw new Fault(code, `${url.origin}: ${sentence}`)
}

/** What fetch calls “fetch failed” has its reason inside. */
function reasonOf(error: unknown): string {
  return error instanceof Error && error.cause instanceof Error ? error.cause.message : messageOf(error)
}
