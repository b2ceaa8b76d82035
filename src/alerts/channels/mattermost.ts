import { Type } from 'typebox'
import {
  colorOf,
  escapeMarkdown,
  headingOf,
  joined,
  markdownActions,
  OPEN_LABEL,
} from './appearance.ts'
import { defineChannel } from './define-channel.ts'
import { isOwn404, requireSuccess } from './outcomes.ts'
import { SelfHostedSecret } from './fields.ts'
import type { ServiceResponse } from './http.ts'
import { PRIVATE_SERVER_HELP } from './self-hosted.ts'

/** Error IDs that mean that the webhook, its user or its channel is gone. */
const DEAD =
  /^web\.incoming_webhook\.(invalid|user|channel|permissions|channel_locked|disabled)\.app_error$/

/** A message in a Mattermost channel, by an incoming webhook. */
export const mattermost = defineChannel({
  id: 'mattermost',
  name: 'Mattermost',
  group: 'chat',
  keywords: 'self-hosted',
  docs: 'Under “Integrations”, “Incoming Webhooks”, create a webhook for the channel and copy its URL.',
  ending: 'A new message says that the problem ended.',
  disabling: 'The webhook, its user or its channel was removed.',
  fields: Type.Object({
    url: SelfHostedSecret(
      {
        label: 'Webhook URL',
        help: `Anyone who knows it can post. ${PRIVATE_SERVER_HELP}`,
        placeholder: 'https://mattermost.example.com/hooks/…',
      },
      { pattern: '^https?://[^\\s/?#@]+/([A-Za-z0-9._~-]+/)*hooks/[A-Za-z0-9]+$' },
    ),
  }),
  // 16,383 characters, also where every one is escaped.
  limits: { title: 250, text: 4_000, perMinute: 30 },
  async send(delivery, { url }, { http }) {
    const heading = escapeMarkdown(headingOf(delivery))
    const response = await http(url, {
      json: {
        text: heading,
        attachments: [
          {
            fallback: heading,
            color: colorOf(delivery),
            text: joined([escapeMarkdown(delivery.text), markdownActions(delivery.actions)]),
            ...(delivery.link !== null && {
              title: OPEN_LABEL,
              title_link: delivery.link,
            }),
          },
        ],
      },
    })
    requireSuccess(response, isDead(response))
  },
})

function isDead(response: ServiceResponse): boolean {
  return isOwn404(response) || DEAD.test(String(response.json['id']))
}
