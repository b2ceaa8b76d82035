import { Type } from 'typebox'
import { escapeTo, headingOf, joined, MAX_ACTIONS_LENGTH, problemKey } from './appearance.ts'
import { defineChannel } from './define-channel.ts'
import { hasJson, requireSuccess } from './outcomes.ts'
import { Secret } from './fields.ts'

/** Characters of the text in a message of 4,000. */
const MAX_TEXT_LENGTH = 3_000

const DEAD_STATUSES = new Set([401, 403, 404])

/** A message in a Google Chat space, by a webhook. */
export const googleChat = defineChannel({
  id: 'google-chat',
  name: 'Google Chat',
  group: 'chat',
  keywords: 'workspace gsuite hangouts',
  docs: 'In the space’s menu, under “Apps & integrations”, add a webhook and copy its URL.',
  ending: 'A message in the thread of the first one says that the problem ended.',
  disabling: 'The webhook or its space was removed (401, 403, 404).',
  fields: Type.Object({
    url: Secret(
      {
        label: 'Webhook URL',
        help: 'Anyone who knows it can post.',
        placeholder: 'https://chat.googleapis.com/v1/spaces/…',
      },
      {
        pattern:
          '^https://chat\\.googleapis\\.com/v1/spaces/[A-Za-z0-9_-]+/messages\\?[\\x21-\\x22\\x24-\\x7e]+$',
      },
    ),
  }),
  // All apps of a space share 60 messages a minute.
  limits: { title: 250, text: MAX_TEXT_LENGTH, perMinute: 20 },
  async send(delivery, { url }, { http }) {
    const { text, link, actions } = delivery
    const target = new URL(url)
    target.searchParams.set('messageReplyOption', 'REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD')
    const links = actions.map((action) => `<${action.url}|${action.label}>`).join(' · ')
    const limit = MAX_TEXT_LENGTH - (links === '' ? 0 : MAX_ACTIONS_LENGTH)
    const parts = [escape(headingOf(delivery)), escapeTo(text, limit, escape), link, links]
    const response = await http(target.href, {
      json: {
        text: joined(parts),
        thread: { threadKey: problemKey(delivery) },
      },
    })
    requireSuccess(response, DEAD_STATUSES.has(response.status) && hasJson(response))
  },
})

/**
 * Google Chat has no escapes. A space of no width makes text of `<users/all>`, a link or a mark of
 * bold, italic, struck or code.
 */
function escape(text: string): string {
  return text.replaceAll(/<(?=\S)|[*_~`](?=\S)/g, '$&\u200B')
}
