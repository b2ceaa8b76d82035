import { Type } from 'typebox'
import type { Severity } from '../severity.ts'
import { defineChannel, type Delivery } from './define-channel.ts'
import { Secret, SelfHosted, Text } from './fields.ts'
import type { ServiceResponse } from './http.ts'
import { Dead, isOwn404, requireSuccess } from './outcomes.ts'
import { PRIVATE_SERVER_HELP, urlAt } from './self-hosted.ts'

const TYPE: Record<Severity, string> = {
  critical: 'failure',
  error: 'failure',
  warning: 'warning',
  info: 'info',
}

/** Everything that an Apprise API server reaches; https://github.com/caronc/apprise-api. */
export const apprise = defineChannel({
  id: 'apprise',
  name: 'Apprise API',
  group: 'other',
  keywords: 'sms telegram signal anything bridge',
  docs: 'On your Apprise API server, save the services to notify under a configuration key.',
  ending: 'A new message of the type “success” says that the problem ended.',
  disabling:
    'Nothing is stored under the key (204, 404), or the server requires a sign-in (401, 403).',
  fields: Type.Object({
    server: SelfHosted(null, {
      label: 'Server',
      help: PRIVATE_SERVER_HELP,
      placeholder: 'https://apprise.example.com',
    }),
    key: Secret(
      { label: 'Configuration key', help: 'Anyone who knows it can notify your services.' },
      { maxLength: 128, pattern: '^[A-Za-z0-9_-]{1,128}$' },
    ),
    tag: Type.Optional(
      Text({ label: 'Tag', help: 'Notifies only services with this tag.', placeholder: 'oncall' }),
    ),
  }),
  limits: { title: 250, text: 4_000, perMinute: 30 },
  nameOf: ({ server = '' }) => `Apprise ${server}`,
  async send(delivery, { server, key, tag }, { http }) {
    const response = await http(urlAt(server, `/notify/${key}`), {
      json: { ...messageOf(delivery), ...(tag !== undefined && { tag }) },
    })
    if (response.status === 204)
      throw new Dead(`${response.words} Apprise has no services to notify for this key and tag.`)
    // 424: some services failed. Another attempt would repeat the message at the others.
    requireSuccess(response, isDead(response))
  },
})

function isDead(response: ServiceResponse): boolean {
  return response.status === 401 || response.status === 403 || isOwn404(response)
}

function messageOf({ title, text, severity, phase, link }: Delivery) {
  return {
    title,
    // Apprise rejects an empty body.
    body: [text, link ?? ''].filter((part) => part !== '').join('\n\n') || title,
    type: phase === 'resolved' ? 'success' : TYPE[severity],
    format: 'text',
  }
}
