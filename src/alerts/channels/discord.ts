import { Type } from 'typebox'
import { defineChannel, type Delivery } from './define-channel.ts'
import { requireSuccess } from './outcomes.ts'
import { colorOf, joined, markdownActions, MAX_ACTIONS_LENGTH } from './appearance.ts'
import { Secret } from './fields.ts'
import type { ServiceResponse } from './http.ts'
import { cut } from './notification.ts'

const MAX_TITLE_LENGTH = 256
const MAX_TEXT_LENGTH = 4_096

/** Error codes: unknown webhook, invalid webhook token. */
const DEAD_CODES = new Set<unknown>([10_015, 50_027])

/** A message in a Discord channel, by a webhook; https://docs.discord.com/developers/resources/webhook. */
export const discord = defineChannel({
  id: 'discord',
  name: 'Discord',
  group: 'chat',
  keywords: 'server gaming',
  docs: 'In the settings of the channel, under “Integrations”, create a webhook and copy its URL.',
  ending: 'The first message is edited and turns green, and a new message says so, too.',
  disabling: 'The webhook was deleted (errors 10015 and 50027).',
  fields: Type.Object({
    url: Secret(
      {
        label: 'Webhook URL',
        help: 'From “Integrations”, “Webhooks” of the channel. Anyone who knows it can post.',
        placeholder: 'https://discord.com/api/webhooks/…',
      },
      {
        pattern:
          '^https://((ptb|canary)\\.)?discord(app)?\\.com/api/(v\\d+/)?webhooks/\\d+/[A-Za-z0-9_-]+$',
      },
    ),
  }),
  limits: { title: 250, text: 3_500, perMinute: 25 },
  async send(delivery, { url }, { http }) {
    const { phase, ref } = delivery
    const json = messageOf(delivery, null)
    const webhook = versioned(url)
    const response = await http(`${webhook}?wait=true`, { json })
    requireSuccess(response, isGone(response))
    if (phase === 'resolved') {
      // Edits notify no one, so the end is a message, too. Without the edit nothing is missing.
      if (ref !== null)
        await http(`${webhook}/messages/${ref}`, { method: 'PATCH', json }).catch(() => {})
      return {}
    }
    const { id } = response.json
    return { ref: typeof id === 'string' ? (ref ?? id) : undefined }
  },
  async showHandling(delivery, { url }, { http }) {
    const { ref, handling } = delivery
    if (ref === null) return
    const json = messageOf(delivery, handling.line)
    await http(`${versioned(url)}/messages/${ref}`, { method: 'PATCH', json }).catch(() => {})
  },
})

/** Without a version, Discord uses one in which `Retry-After` is in milliseconds. */
function versioned(url: string): string {
  return url.replace(/\/api\/(?:v\d+\/)?webhooks\//, '/api/v10/webhooks/')
}

/** @param note a line at the end */
function messageOf(delivery: Delivery, note: string | null) {
  const { title, text, link, at, actions } = delivery
  const escaped = cut(escape(text), MAX_TEXT_LENGTH - MAX_ACTIONS_LENGTH)
  const embed = {
    title: cut(escape(title), MAX_TITLE_LENGTH),
    description: joined([escaped, note && escape(note), markdownActions(actions)]),
    color: Number.parseInt(colorOf(delivery).slice(1), 16),
    timestamp: at.toISOString(),
    ...(link !== null && { url: link }),
  }
  return { embeds: [embed], allowed_mentions: { parse: [] } }
}

function isGone({ status, json }: ServiceResponse): boolean {
  return (status === 404 || status === 401) && DEAD_CODES.has(json['code'])
}

/** Markdown of Discord. Mentions are off by `allowed_mentions`. */
function escape(text: string): string {
  return text.replaceAll(/[\\*_~`|>#[\]<@]/g, String.raw`\$&`)
}
