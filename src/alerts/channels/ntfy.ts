import { Type } from 'typebox'
import type { Phase, Severity } from '../severity.ts'
import { defineChannel } from './define-channel.ts'
import { requireSuccess } from './outcomes.ts'
import { Secret, SelfHosted, Text } from './fields.ts'
import { cutBytes, cutJson } from './notification.ts'
import { Later } from './outcomes.ts'
import { PRIVATE_SERVER_HELP } from './self-hosted.ts'

const PRIORITY: Record<Severity, number> = { critical: 5, error: 4, warning: 3, info: 2 }
const TAGS: Record<Severity, string> = {
  critical: 'rotating_light',
  error: 'x',
  warning: 'warning',
  info: 'information_source',
}

/** ntfy counts UTF-8; a longer message becomes an attached file. */
const MAX_TITLE_BYTES = 900
const MAX_MESSAGE_BYTES = 3_900

/** All of the JSON has 8,192 bytes, in which a quotation mark or a line break is two. */
const MAX_JSON_TITLE_BYTES = 1_000
const MAX_JSON_MESSAGE_BYTES = 5_000

/** Push notifications by ntfy.sh or an own server; https://docs.ntfy.sh/publish/. */
export const ntfy = defineChannel({
  id: 'ntfy',
  name: 'ntfy',
  group: 'push',
  keywords: 'iphone android',
  docs: 'Choose a topic name that is hard to guess and subscribe to it in the ntfy app.',
  ending: 'A new message of low priority replaces the first one; ntfy before 2.16 shows both.',
  disabling: 'The server rejects the access token, or the topic is protected (401, 403).',
  fields: Type.Object({
    server: SelfHosted('https://ntfy.sh', {
      label: 'Server',
      help: PRIVATE_SERVER_HELP,
    }),
    topic: Text(
      {
        label: 'Topic',
        help: 'Anyone who knows it can read the alerts, unless the server protects it.',
        placeholder: 'portreeve-x7k2m9',
      },
      { maxLength: 64, pattern: '^[-_A-Za-z0-9]{1,64}$' },
    ),
    token: Type.Optional(
      Secret({
        label: 'Access token',
        help: 'Required if the topic is protected.',
        placeholder: 'tk_…',
      }),
    ),
  }),
  limits: { title: 250, text: 3_900, perMinute: 12 },
  nameOf: ({ server = '', topic = '' }) => `${hostOf(server)}/${topic}`,
  // A repeated message replaces the first one: both have the same sequence ID.
  isIdempotent: true,
  async send({ title, text, severity, phase, link, ref, id }, { server, topic, token }, { http }) {
    const sequence = ref ?? id
    const response = await http(server, {
      headers: token ? { authorization: `Bearer ${token}` } : {},
      json: {
        topic,
        title: cutJson(cutBytes(title, MAX_TITLE_BYTES), MAX_JSON_TITLE_BYTES),
        message: cutJson(cutBytes(text, MAX_MESSAGE_BYTES), MAX_JSON_MESSAGE_BYTES),
        priority: phase === 'resolved' ? 2 : PRIORITY[severity],
        tags: [phase === 'resolved' ? 'white_check_mark' : TAGS[severity]],
        sequence_id: sequence,
        ...(link !== null && {
          click: link,
          actions: [{ action: 'view', label: 'Open', url: link }],
        }),
      },
    })
    requireNoDayLimit(response.status, response.json, response.words)
    requireSuccess(response, response.status === 401 || response.status === 403)
    return { ref: phase === ('resolved' satisfies Phase) ? undefined : sequence }
  },
})

/** Error 42908: the free messages of a day are used up. It is a 429 elsewhere. */
function requireNoDayLimit(status: number, json: Record<string, unknown>, words: string): void {
  if (status >= 400 && json['code'] === 42_908) throw new Later(words, 3_600)
}

function hostOf(server: string): string {
  return URL.canParse(server) ? new URL(server).host : server
}
