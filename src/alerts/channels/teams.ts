import { Type } from 'typebox'
import type { Severity } from '../severity.ts'
import { defineChannel, requireSuccess } from './define-channel.ts'
import { Secret } from './fields.ts'

/** Colors of an adaptive card. */
const COLOR: Record<Severity, string> = {
  critical: 'Attention',
  error: 'Attention',
  warning: 'Warning',
  info: 'Accent',
}

/** A card in a Microsoft Teams channel, by a workflow. Office 365 connectors ended in May 2026. */
export const teams = defineChannel({
  id: 'teams',
  name: 'Microsoft Teams',
  group: 'chat',
  docs: 'In the channel, under “Workflows”, choose “Send webhook alerts to a channel” and copy its URL.',
  fields: Type.Object({
    url: Secret(
      {
        label: 'Workflow URL',
        help: 'URLs of Office 365 connectors (webhook.office.com) no longer work. A workflow stops when its owner leaves.',
        placeholder: 'https://….environment.api.powerplatform.com/…',
      },
      {
        pattern:
          '^https://[A-Za-z0-9.-]+\\.(logic\\.azure\\.com|environment\\.api\\.powerplatform\\.com)(:443)?/[\\x21-\\x7e]+$',
      },
    ),
  }),
  limits: { title: 250, text: 4_000, perMinute: 30 },
  async send({ title, text, severity, phase, link }, { url }, { http }) {
    const color = phase === 'resolved' ? 'Good' : COLOR[severity]
    const content = {
      $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
      type: 'AdaptiveCard',
      version: '1.4',
      body: [
        block(title, { size: 'Medium', weight: 'Bolder', color }),
        ...(text === '' ? [] : [block(text, {})]),
      ],
      actions:
        link === null ? [] : [{ type: 'Action.OpenUrl', title: 'Open in Portreeve', url: link }],
    }
    const contentType = 'application/vnd.microsoft.card.adaptive'
    const response = await http(url, {
      json: { type: 'message', attachments: [{ contentType, content }] },
    })
    requireSuccess(response, response.status === 404 || response.status === 410)
  },
})

/** A text run shows its text as it is; a text block would read Markdown. */
function block(text: string, style: Record<string, string>) {
  return { type: 'RichTextBlock', inlines: [{ type: 'TextRun', text, ...style }] }
}
