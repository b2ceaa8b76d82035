import { Type } from 'typebox'
import {
  colorOf,
  escapeMarkdown,
  escapeTo,
  headingOf,
  markdownActions,
  OPEN_LABEL,
} from './appearance.ts'
import { defineChannel } from './define-channel.ts'
import { isOwn404, requireSuccess } from './outcomes.ts'
import { SelfHostedSecret } from './fields.ts'
import { PRIVATE_SERVER_HELP } from './self-hosted.ts'

const MAX_TEXT_LENGTH = 1_000

/** A message in a Rocket.Chat channel, by an incoming integration. */
export const rocketChat = defineChannel({
  id: 'rocketchat',
  name: 'Rocket.Chat',
  group: 'chat',
  keywords: 'rocket self-hosted',
  docs: 'Under “Workspace”, “Integrations”, create an incoming integration and copy its webhook URL.',
  ending: 'A new message says that the problem ended.',
  disabling: 'The integration was removed or disabled (401, 404).',
  fields: Type.Object({
    url: SelfHostedSecret(
      {
        label: 'Webhook URL',
        help: `Anyone who knows it can post. ${PRIVATE_SERVER_HELP}`,
        placeholder: 'https://chat.example.com/hooks/…/…',
      },
      {
        pattern: '^https?://[^\\s/?#@]+/([A-Za-z0-9._~-]+/)*hooks/[A-Za-z0-9]+/[A-Za-z0-9_-]+$',
      },
    ),
  }),
  limits: { title: 200, text: 900, perMinute: 30 },
  async send(delivery, { url }, { http }) {
    const { text, link, actions } = delivery
    const response = await http(url, {
      json: {
        alias: 'Portreeve',
        text: escapeMarkdown(headingOf(delivery)),
        attachments: [
          {
            color: colorOf(delivery),
            text: escapeTo(text, MAX_TEXT_LENGTH, escapeMarkdown),
            ...(link !== null && { title: OPEN_LABEL, title_link: link }),
          },
          ...(actions.length > 0 ? [{ text: markdownActions(actions) }] : []),
        ],
      },
    })
    requireSuccess(response, response.status === 401 || isOwn404(response))
  },
})
