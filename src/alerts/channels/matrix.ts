import { Type } from 'typebox'
import { escapeHtml, headingOf, htmlActions, joined, OPEN_LABEL } from './appearance.ts'
import { defineChannel, type Delivery } from './define-channel.ts'
import { requireSuccess } from './outcomes.ts'
import { Secret, SelfHosted, Text } from './fields.ts'
import type { Http, ServiceResponse } from './http.ts'
import { PRIVATE_SERVER_HELP, urlAt } from './self-hosted.ts'

const DEAD_CODES = new Set<unknown>(['M_UNKNOWN_TOKEN', 'M_MISSING_TOKEN', 'M_FORBIDDEN'])

/** A message in a Matrix room; https://spec.matrix.org/latest/client-server-api/. */
export const matrix = defineChannel({
  id: 'matrix',
  name: 'Matrix',
  group: 'chat',
  keywords: 'element synapse',
  docs: 'Create an account for alerts, join an unencrypted room with it, and copy its access token.',
  ending: 'The first message is edited, and a new message says that the problem ended.',
  disabling: 'The access token is no longer valid, or the account left the room (401, 403).',
  fields: Type.Object({
    server: SelfHosted('https://matrix.org', {
      label: 'Homeserver',
      help: `The URL of its client API. ${PRIVATE_SERVER_HELP}`,
    }),
    room: Text(
      {
        label: 'Room ID',
        help: 'From the room’s settings under “Advanced”. It begins with an exclamation mark.',
        placeholder: '!abcdefgh:example.com',
      },
      { maxLength: 255, pattern: '^![\\x21-\\x7e]{1,254}$' },
    ),
    token: Secret({ label: 'Access token', placeholder: 'syt_…' }),
  }),
  limits: { title: 250, text: 4_000, perMinute: 30 },
  nameOf: ({ room = '' }) => `Matrix ${room}`,
  // The server recognises a repeated message by its transaction ID.
  isIdempotent: true,
  async send(delivery, settings, { http }) {
    const { id, ref, phase } = delivery
    const put = putTo(http, settings)
    const content = contentOf(delivery)
    const response = await put(id, content)
    requireSuccess(response, isDead(response))
    if (phase === 'resolved') {
      // Edits notify no one, so the end is a message, too. Without the edit nothing is missing.
      if (ref !== null) await put(`${id}-edit`, replacement(ref, content)).catch(() => {})
      return {}
    }
    const { event_id: event } = response.json
    return { ref: ref ?? (typeof event === 'string' ? event : undefined) }
  },
  async showHandling(delivery, settings, { http }) {
    const { id, ref, handling } = delivery
    if (ref === null) return
    const content = replacement(ref, contentOf(delivery, handling.line))
    await putTo(http, settings)(id, content).catch(() => {})
  },
})

type RoomSettings = { server: string; room: string; token: string }

/** Sends a message of a transaction to a room. */
function putTo(http: Http, { server, room, token }: RoomSettings) {
  const base = `/_matrix/client/v3/rooms/${encodeURIComponent(room)}/send/m.room.message`
  return (transaction: string, json: object) =>
    http(urlAt(server, `${base}/${transaction}`), {
      method: 'PUT',
      headers: { authorization: `Bearer ${token}` },
      json,
    })
}

/** @param note a line at the end */
function contentOf(delivery: Delivery, note: string | null = null) {
  const { text, link, actions } = delivery
  const heading = headingOf(delivery)
  const html = [
    `<strong>${escapeHtml(heading)}</strong>`,
    escapeHtml(text).replaceAll('\n', '<br>'),
    note && escapeHtml(note),
    link && `<a href="${escapeHtml(link)}">${OPEN_LABEL}</a>`,
    htmlActions(actions),
  ]
  const links = actions.map(({ label, url }) => `${label}: ${url}`).join('\n')
  return {
    msgtype: 'm.text',
    body: joined([heading, text, note, link, links]),
    format: 'org.matrix.custom.html',
    formatted_body: joined(html, '<br><br>'),
    // Without it, clients search the text for `@room` and names.
    'm.mentions': {},
  }
}

function replacement(ref: string, content: ReturnType<typeof contentOf>) {
  return {
    ...content,
    body: `* ${content.body}`,
    'm.new_content': content,
    'm.relates_to': { rel_type: 'm.replace', event_id: ref },
  }
}

function isDead({ status, json }: ServiceResponse): boolean {
  return (status === 401 || status === 403) && DEAD_CODES.has(json['errcode'])
}
