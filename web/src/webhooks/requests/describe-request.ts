import type { CapturedRequest } from '../api.ts'

/** Headers in which providers name the event, most specific first. */
const EVENT_HEADERS = [
  'x-github-event',
  'x-gitlab-event',
  'x-gitea-event',
  'x-shopify-topic',
  'x-event-key',
  'x-event-type',
  'x-event',
  'ce-type',
  'webhook-event',
]

/** Fields at the start of a JSON body that name the event. */
const EVENT_FIELD =
  /^\s*\{(?:[^{}[\]]{0,400}?[,\s])?"(?:type|event|event_type|eventType|topic)"\s*:\s*"([^"\\]{1,80})"/

const MAX_START_CHARS = 60

/** Characters of a body in which its event or its start is looked for. */
const READ_CHARS = 600

type Described = Pick<CapturedRequest, 'headers' | 'body' | 'bodyEncoding'>

/**
 * What tells a request from the others of its path: the event that the sender names in a header or
 * a field of the body, or the start of the body. Empty for other bodies than text.
 */
export function describeRequest({ headers, body, bodyEncoding }: Described): string {
  const byName = new Map(headers.map(([name, value]) => [name.toLowerCase(), value]))
  const header = EVENT_HEADERS.map((name) => byName.get(name)).find(Boolean)
  if (header !== undefined) return header.slice(0, MAX_START_CHARS)
  if (bodyEncoding !== 'utf8') return ''
  const start = body.slice(0, READ_CHARS)
  const field = EVENT_FIELD.exec(start)?.[1]
  return field ?? start.replaceAll(/\s+/g, ' ').trim().slice(0, MAX_START_CHARS)
}
