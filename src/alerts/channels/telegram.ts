import { Type } from 'typebox'
import { breakMentions, escapeHtml, headingOf, joined, OPEN_LABEL } from './appearance.ts'
import { defineChannel, type Delivery } from './define-channel.ts'
import { requireSuccess } from './outcomes.ts'
import { Secret, Text } from './fields.ts'
import type { Http, ServiceResponse } from './http.ts'
import { cut } from './notification.ts'

const API = 'https://api.telegram.org'

const MAX_TEXT_LENGTH = 3_500

/** Reasons of a response 400 that means that the chat or its topic is gone. */
const GONE =
  /chat not found|message thread not found|topic_(closed|deleted)|group chat was deleted/i

/** A message of a Telegram bot; https://core.telegram.org/bots/api#sendmessage. */
export const telegram = defineChannel({
  id: 'telegram',
  name: 'Telegram',
  group: 'chat',
  keywords: 'bot',
  docs: 'Create a bot with @BotFather, add it to the chat, and copy its token and the ID of the chat.',
  ending: 'The first message is edited, and a reply to it says that the problem ended.',
  disabling:
    'The token was revoked, the bot was blocked or removed from the chat, or the chat or topic was deleted.',
  fields: Type.Object({
    token: Secret(
      { label: 'Bot token', help: 'From @BotFather.', placeholder: '123456789:AA…' },
      { pattern: '^\\d{5,15}:[A-Za-z0-9_-]{20,100}$' },
    ),
    chat: Text(
      {
        label: 'Chat ID',
        help: 'A number, which is negative for groups, or the @name of a public channel.',
        placeholder: '-1001234567890',
      },
      { maxLength: 40, pattern: '^(-?\\d{1,20}|@[A-Za-z0-9_]{4,32})$' },
    ),
    topic: Type.Optional(
      Text(
        { label: 'Topic ID', help: 'Only for groups with topics.', placeholder: '42' },
        { maxLength: 15, pattern: '^\\d{1,15}$' },
      ),
    ),
  }),
  // The text is 4,096 characters with its heading, link and what HTML does not count. A group takes 20
  // messages a minute, of which five may come at once.
  limits: { title: 250, text: MAX_TEXT_LENGTH, perMinute: 15 },
  nameOf: ({ chat = '' }) => `Telegram ${chat}`,
  async send(delivery, { token, chat, topic }, { http }) {
    const { ref, phase } = delivery
    const bot = `${API}/bot${token}`
    const content = contentOf(delivery)
    const json = {
      ...content,
      ...(topic !== undefined && { message_thread_id: Number(topic) }),
      ...(ref !== null && {
        reply_parameters: { message_id: Number(ref), allow_sending_without_reply: true },
      }),
    }
    const { response, chat: current } = await sendTo(http, `${bot}/sendMessage`, chat, json)
    requireSuccess(response, isDead(response))
    const changed = current === chat ? undefined : { chat: current }
    if (phase === 'resolved') {
      // Edits notify no one, so the end is a message, too. Without the edit nothing is missing.
      if (ref !== null) {
        const edit = { ...content, message_id: Number(ref) }
        await sendTo(http, `${bot}/editMessageText`, current, edit).catch(() => {})
      }
      return { changed }
    }
    const { message_id: id } = (response.json['result'] ?? {}) as { message_id?: unknown }
    return { ref: ref ?? (typeof id === 'number' ? String(id) : undefined), changed }
  },
  async showHandling(delivery, { token, chat }, { http }) {
    const { ref, handling } = delivery
    if (ref === null) return
    const edit = { ...contentOf(delivery, handling.line), message_id: Number(ref) }
    await sendTo(http, `${API}/bot${token}/editMessageText`, chat, edit).catch(() => {})
  },
})

/** @param note a line at the end */
function contentOf(delivery: Delivery, note: string | null = null) {
  const { text, link, actions } = delivery
  const parts = [
    `<b>${escape(headingOf(delivery))}</b>`,
    escape(text),
    note && escape(note),
    link && `<a href="${escapeHtml(link)}">${OPEN_LABEL}</a>`,
  ]
  const buttons = actions.map(({ label, url }) => ({ text: label, url }))
  return {
    text: joined(parts),
    parse_mode: 'HTML',
    link_preview_options: { is_disabled: true },
    ...(buttons.length > 0 && { reply_markup: { inline_keyboard: [buttons] } }),
  }
}

/** HTML in which a space of no width makes text of `@name`, which would notify a member. */
function escape(text: string): string {
  return escapeHtml(cut(breakMentions(text), MAX_TEXT_LENGTH))
}

/** Sends to a chat, or to the supergroup that it has become; returns which of them it was. */
async function sendTo(http: Http, url: string, chat: string, json: object) {
  const response = await http(url, { json: { ...json, chat_id: chat } })
  const moved = (response.json['parameters'] as { migrate_to_chat_id?: unknown } | undefined)
    ?.migrate_to_chat_id
  if (response.status !== 400 || !Number.isSafeInteger(moved)) return { response, chat }
  const current = String(moved)
  return { response: await http(url, { json: { ...json, chat_id: current } }), chat: current }
}

function isDead({ status, json }: ServiceResponse): boolean {
  // Networks that block Telegram respond 403 or 404, too.
  if (json['ok'] !== false) return false
  // 404 is the response to a token of a bot that does not exist.
  if (status === 401 || status === 403 || status === 404) return true
  return status === 400 && GONE.test(String(json['description']))
}
