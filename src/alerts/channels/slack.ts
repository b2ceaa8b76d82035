import { Type } from 'typebox'
import { defineChannel } from './define-channel.ts'
import { requireSuccess } from './outcomes.ts'
import { escapeTo, headingOf, OPEN_LABEL } from './appearance.ts'
import { Secret } from './fields.ts'
import type { ActionLink } from '../silence/links/action-links.ts'
import { cut } from './notification.ts'

/** Responses that mean that the webhook or its channel is gone; https://api.slack.com/messaging/webhooks. */
const DEAD = new Set([
  'no_service',
  'no_service_id',
  'no_active_hooks',
  'channel_not_found',
  'channel_is_archived',
  'action_prohibited',
  'no_team',
  'team_disabled',
  'invalid_token',
  'posting_to_general_channel_denied',
])

/** Characters of a header block and a section. Escaping lengthens `&` to five. */
const MAX_HEADER_LENGTH = 150
const MAX_SECTION_LENGTH = 3_000

/** A message in a Slack channel, by an incoming webhook. */
export const slack = defineChannel({
  id: 'slack',
  name: 'Slack',
  group: 'chat',
  docs: 'Create an app with an incoming webhook for the channel, and copy the webhook’s URL.',
  ending: 'A new message says that the problem ended.',
  disabling: 'The webhook was removed, or its channel was archived or deleted.',
  fields: Type.Object({
    url: Secret(
      {
        label: 'Webhook URL',
        help: 'From “Incoming Webhooks” of your Slack app. Anyone who knows it can post.',
        placeholder: 'https://hooks.slack.com/services/…',
      },
      { pattern: '^https://hooks\\.slack\\.com/(services|workflows|triggers)/[A-Za-z0-9/_-]+$' },
    ),
  }),
  limits: { title: 140, text: 2_800, perMinute: 30 },
  async send(delivery, { url }, { http }) {
    const { text, link, actions } = delivery
    const heading = headingOf(delivery)
    const response = await http(url, {
      json: {
        text: escape(heading),
        blocks: [
          // Plain text is not parsed, so it is not escaped.
          {
            type: 'header',
            text: { type: 'plain_text', text: cut(heading, MAX_HEADER_LENGTH), emoji: true },
          },
          ...(text === ''
            ? []
            : [
                {
                  type: 'section',
                  text: { type: 'mrkdwn', text: escapeTo(text, MAX_SECTION_LENGTH, escape) },
                },
              ]),
          ...(link === null ? [] : [buttons([{ label: OPEN_LABEL, url: link }, ...actions])]),
        ],
      },
    })
    const word = response.body.trim()
    // An error is a word, whatever the status is; “ok” is none.
    const isError = /^[a-z_]{3,60}$/.test(word) && response.status < 400
    requireSuccess(isError ? { ...response, status: 400 } : response, DEAD.has(word), 'text')
  },
})

function buttons(links: ActionLink[]) {
  return {
    type: 'actions',
    elements: links.map(({ label, url }) => ({
      type: 'button',
      text: { type: 'plain_text', text: label },
      url,
    })),
  }
}

/** Slack’s three characters; `<!channel>` and `<@user>` are then text. */
function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
