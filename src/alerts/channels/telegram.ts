import { Type } from 'typebox'
import { defineChannel, requireSuccess } from './define-channel.ts'
import { Secret, Text } from './fields.ts'
import { MARKS } from './marks.ts'

/** Descriptions of errors after which the bot can no longer write to the chat. */
const DEAD = /blocked|kicked|chat not found|deactivated|unauthorized/i

/** A message of a Telegram bot; https://core.telegram.org/bots/api#sendmessage. */
export const telegram = defineChannel({
  id: 'telegram',
  name: 'Telegram',
  group: 'chat',
  docs: 'Create a bot with @BotFather, add it to the chat, and enter its token and the ID of the chat.',
  fields: Type.Object({
    token: Secret(
      { label: 'Bot token', help: 'From @BotFather.', placeholder: '123456:ABC-DEF1234ghIkl' },
      { pattern: '^\\d{3,20}:[A-Za-z0-9_-]{20,100}$' },
    ),
    chat: Text(
      {
        label: 'Chat ID',
        help: 'A number, negative for groups, or the @name of a public channel.',
        placeholder: '-1001234567890',
      },
      { pattern: '^(-?\\d{1,20}|@[A-Za-z0-9_]{3,40})$' },
    ),
    topic: Type.Optional(
      Text({ label: 'Topic ID', help: 'Only for groups with topics.' }, { pattern: '^\\d{1,12}$' }),
    ),
  }),
  // 4,096 after parsing, without the markup. A group gets up to 20 messages a minute.
  limits: { title: 250, text: 3_500, perMinute: 18 },
  nameOf: ({ chat = '' }) => `Telegram ${chat}`,
  async send({ title, text, severity, phase, link }, { token, chat, topic }, { http }) {
    const heading = `${MARKS[phase === 'resolved' ? 'resolved' : severity]} <b>${escape(title)}</b>`
    const last = link === null ? [] : [`<a href="${escape(link)}">Open in Portreeve</a>`]
    const response = await http(`https://api.telegram.org/bot${token}/sendMessage`, {
      json: {
        chat_id: chat,
        ...(topic !== undefined && { message_thread_id: Number(topic) }),
        text: [heading, ...(text === '' ? [] : [escape(text)]), ...last].join('\n\n'),
        parse_mode: 'HTML',
        link_preview_options: { is_disabled: true },
      },
    })
    const { status, json } = response
    const isDead = status === 401 || status === 403 || DEAD.test(String(json['description']))
    requireSuccess(response, isDead)
  },
})

/** The four characters of HTML that Telegram parses. */
function escape(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
