import type { IncomingHttpHeaders } from 'node:http'

/** A request as the service sees it. */
export type Call = {
  method: string
  url: URL
  headers: IncomingHttpHeaders
  body: string
  /** Null where the body is not JSON. */
  json: unknown
}

export type Reply = { status: number; body?: unknown; headers?: Record<string, string> }

/** What a service documents, as far as a channel type depends on it. */
export type Contract = {
  /** Origin that leads to the fake; null for servers that users run themselves. */
  hosted: string | null
  /** @param origin of the fake */
  settings(origin: string): Record<string, string>
  /**
   * Checks a request.
   * @returns the message as people see it, and the response
   * @throws Refused where the real service would reject it, or would see markup or mentions
   */
  accept(call: Call): { shown: string; reply: Reply }
  /** Response that means that the settings no longer work. */
  dead: Reply
  /** Response to a message that the service never accepts. */
  rejected: Reply
  /** Response to too many messages, for seven seconds; the header `Retry-After` elsewhere. */
  busy?: Reply
}

export class Refused extends Error {
  readonly reply: Reply

  constructor(reply: Reply) {
    super(`${reply.status} ${JSON.stringify(reply.body)}`)
    this.reply = reply
  }
}

export function requireThat(holds: boolean, body: unknown, status = 400): asserts holds {
  if (!holds) throw new Refused({ status, body })
}

/** @param path `embeds.0.title` */
export function valueAt(json: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce((value, name) => (value as Record<string, unknown> | null | undefined)?.[name], json)
}

/** A text of up to `max` characters. */
export function textAt(json: unknown, path: string, max: number, min = 0): string {
  const value = valueAt(json, path)
  requireThat(typeof value === 'string', `${path} is no text`)
  requireThat(
    value.length <= max && value.length >= min,
    `${path} has ${value.length} characters, ${min} to ${max} are possible`,
  )
  return value
}

/** A URL of the dashboard where there is one. */
export function linkAt(json: unknown, path: string, max = 2_000): void {
  if (valueAt(json, path) === undefined) return
  requireThat(URL.canParse(textAt(json, path, max)), `${path} is no URL`)
}

const ENTITIES: Record<string, string> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
}

/** Reads HTML with these tags only. */
export function readHtml(html: string, tags: RegExp): string {
  const text = html.replaceAll(/<br>/g, '\n').replaceAll(tags, '')
  requireThat(!/[<>]/.test(text), `can't parse entities: ${text.slice(0, 200)}`)
  return text.replaceAll(/&(?:\w+;)?/g, (entity) => {
    const character = ENTITIES[entity]
    requireThat(character !== undefined, `unknown entity ${entity}`)
    return character
  })
}

/** The links with which people act on an incident, in Markdown. */
const ACTION_LINKS = /\[(Acknowledge|Snooze|Mute)\]\(https?:\/\/[^\s()]+\)/g

/** Reads Markdown without any markup or mention, apart from the links of a message. */
export function readMarkdown(source: string): string {
  const markdown = source.replaceAll(ACTION_LINKS, '$1')
  const bare = markdown.replaceAll(/\\[!-/:-@[-`{-~]/g, '')
  const markup = /[*_~`[\]<>|#]/.exec(bare)
  requireThat(markup === null, `markup ${markup?.[0]} in ${bare.slice(0, 200)}`)
  requireThat(!/(?<![\p{L}\p{N}])@(?=\w)/u.test(bare), 'mention')
  return markdown.replaceAll(/\\([!-/:-@[-`{-~])/g, '$1')
}

export const bearerOf = ({ headers }: Call) => headers.authorization ?? ''
