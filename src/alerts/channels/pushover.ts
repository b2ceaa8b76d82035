import { Type } from 'typebox'
import type { Severity } from '../severity.ts'
import { OPEN_LABEL } from './appearance.ts'
import { defineChannel, type Delivery } from './define-channel.ts'
import { requireSuccess } from './outcomes.ts'
import { Secret, Text } from './fields.ts'
import type { ServiceResponse } from './http.ts'

const PRIORITY: Record<Severity, number> = { critical: 1, error: 1, warning: 0, info: -1 }
const RESOLVED_PRIORITY = -1

const MAX_LINK_LENGTH = 512

/** Push notifications by Pushover; https://pushover.net/api. */
export const pushover = defineChannel({
  id: 'pushover',
  name: 'Pushover',
  group: 'push',
  keywords: 'iphone android ios',
  docs: 'Create an application at pushover.net and copy its API token and your user or group key.',
  ending: 'A new, silent message says that the problem ended.',
  disabling: 'Pushover does not know the application, the user or the device (400).',
  fields: Type.Object({
    token: Secret(
      { label: 'API token of the application' },
      { maxLength: 30, pattern: '^[A-Za-z0-9]{30}$' },
    ),
    user: Secret({ label: 'User or group key' }, { maxLength: 30, pattern: '^[A-Za-z0-9]{30}$' }),
    device: Type.Optional(
      Text(
        { label: 'Device', help: 'Leave empty for all devices.', placeholder: 'phone' },
        { maxLength: 25, pattern: '^[A-Za-z0-9_-]{1,25}$' },
      ),
    ),
  }),
  limits: { title: 250, text: 1_024, perMinute: 6 },
  async send(delivery, { token, user, device }, { http }) {
    const form = new URLSearchParams({ token, user, ...fieldsOf(delivery) })
    if (device !== undefined) form.set('device', device)
    const response = await http('https://api.pushover.net/1/messages.json', { form })
    requireSuccess(response, isDead(response))
  },
})

function fieldsOf({ title, text, severity, phase, at, link }: Delivery): Record<string, string> {
  return {
    title,
    // Pushover rejects an empty message.
    message: text === '' ? title : text,
    priority: String(phase === 'resolved' ? RESOLVED_PRIORITY : PRIORITY[severity]),
    timestamp: String(Math.floor(at.getTime() / 1000)),
    ...(link !== null && link.length <= MAX_LINK_LENGTH && { url: link, url_title: OPEN_LABEL }),
  }
}

/** Pushover names the wrong field: `{"user":"invalid","status":0}`. */
function isDead({ status, json }: ServiceResponse): boolean {
  return status === 400 && ['token', 'user', 'device'].some((field) => json[field] === 'invalid')
}
