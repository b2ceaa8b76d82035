import { Type } from 'typebox'
import type { Severity } from '../severity.ts'
import { headingOf, OPEN_LABEL } from './appearance.ts'
import { defineChannel, type Delivery } from './define-channel.ts'
import { hasJson, Later, requireSuccess } from './outcomes.ts'
import { Secret } from './fields.ts'
import type { ServiceResponse } from './http.ts'

const STYLE: Record<Severity, string> = {
  critical: 'attention',
  error: 'attention',
  warning: 'warning',
  info: 'accent',
}

/** Lines that are blocks of their own; further ones are joined, as each block has a size. */
const MAX_BLOCKS = 40

/** Responses to the URL of a workflow that was deleted or disabled, or got a new key. */
const DEAD_STATUSES = new Set([401, 403, 404, 410])

const RETIRED = /^https:\/\/([a-z0-9-]+\.)*(webhook\.office\.com|outlook\.office(365)?\.com)\//i

/** An Adaptive Card in a Microsoft Teams channel or chat, by a Power Automate workflow. */
export const teams = defineChannel({
  id: 'teams',
  name: 'Microsoft Teams',
  group: 'chat',
  keywords: 'office 365 ms power automate workflow',
  docs: 'In the channel’s menu, under “Workflows”, add “Send webhook alerts to a channel” and copy its URL.',
  ending: 'A new card says that the problem ended.',
  disabling:
    'The workflow was deleted or disabled, or its URL was renewed (401, 403, 404, 410). A workflow also stops when its owner’s account is deleted.',
  fields: Type.Object({
    url: Secret(
      {
        label: 'Workflow URL',
        help: 'Anyone who knows it can post. URLs at webhook.office.com no longer work.',
        placeholder: 'https://….environment.api.powerplatform.com/powerautomate/…',
      },
      {
        // Retired URLs are let through to the sentence that explains them.
        pattern:
          '^https://[a-z0-9.-]+\\.(logic\\.azure\\.(com|us)|api\\.(gov\\.)?powerplatform\\.(com|microsoft\\.us)|webhook\\.office\\.com|office(365)?\\.com)(:443)?/[\\x21-\\x7e]+$',
      },
    ),
  }),
  limits: { title: 250, text: 3_000, perMinute: 30 },
  problemWith: ({ url }) =>
    !/\.(azure\.(com|us)|powerplatform\.(com|microsoft\.us))(:443)?\//i.test(url) ||
    RETIRED.test(url)
      ? {
          field: 'url',
          sentence:
            'Microsoft retired the connectors at webhook.office.com. Create a workflow in Teams and enter its URL.',
        }
      : null,
  async send(delivery, { url }, { http }) {
    const attachment = {
      contentType: 'application/vnd.microsoft.card.adaptive',
      contentUrl: null,
      content: cardOf(delivery),
    }
    const response = await http(url, { json: { type: 'message', attachments: [attachment] } })
    const isDead = DEAD_STATUSES.has(response.status) && hasJson(response)
    requireSuccess(posted(response), isDead, 'text')
  },
})

/** Status of Teams itself, which some webhooks report in a sentence, with the status 200. */
function posted(response: ServiceResponse): ServiceResponse {
  const [, status] =
    /^Webhook message delivery failed.*? HTTP error (\d{3})/is.exec(response.body) ?? []
  if (response.status >= 300 || status === undefined) return response
  if (status === '429' || status.startsWith('5')) throw new Later(response.words)
  return { ...response, status: 400 }
}

/** Text is in `TextRun`s, which, unlike `TextBlock`s, are not Markdown. */
function cardOf(delivery: Delivery) {
  const { text, link, severity, phase, actions } = delivery
  const links = link === null ? [] : [{ label: OPEN_LABEL, url: link }, ...actions]
  return {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    msteams: { width: 'Full' },
    body: [
      {
        type: 'Container',
        style: phase === 'resolved' ? 'good' : STYLE[severity],
        bleed: true,
        items: [line(headingOf(delivery), { weight: 'Bolder', size: 'Medium' })],
      },
      ...linesOf(text).map((one) => line(one)),
    ],
    ...(links.length > 0 && {
      actions: links.map(({ label, url }) => ({ type: 'Action.OpenUrl', title: label, url })),
    }),
  }
}

function line(text: string, look: object = {}) {
  return { type: 'RichTextBlock', inlines: [{ type: 'TextRun', text, ...look }] }
}

function linesOf(text: string): string[] {
  const lines = text.split('\n').filter((one) => one.trim() !== '')
  const rest = lines.slice(MAX_BLOCKS - 1).join(' ')
  return [...lines.slice(0, MAX_BLOCKS - 1), ...(rest === '' ? [] : [rest])]
}
