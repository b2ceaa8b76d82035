import { Type } from 'typebox'
import type { Severity } from '../severity.ts'
import { defineChannel } from './define-channel.ts'
import { requireSuccess } from './outcomes.ts'
import { Secret, SelfHosted } from './fields.ts'
import { PRIVATE_SERVER_HELP, urlAt } from './self-hosted.ts'

const PRIORITY: Record<Severity, number> = { critical: 8, error: 6, warning: 4, info: 2 }
const RESOLVED_PRIORITY = 2

/** Push notifications by a Gotify server; https://gotify.net/docs/pushmsg. */
export const gotify = defineChannel({
  id: 'gotify',
  name: 'Gotify',
  group: 'push',
  keywords: 'android',
  docs: 'In Gotify, under “Apps”, create an application and copy its token.',
  ending: 'A new message of low priority says that the problem ended.',
  disabling: 'The token belongs to no application (401, 403).',
  fields: Type.Object({
    server: SelfHosted(null, {
      label: 'Server',
      help: PRIVATE_SERVER_HELP,
      placeholder: 'https://gotify.example.com',
    }),
    token: Secret({ label: 'Application token', placeholder: 'A…' }, { maxLength: 100 }),
  }),
  limits: { title: 250, text: 4_000, perMinute: 30 },
  nameOf: ({ server = '' }) => `Gotify ${server}`,
  async send({ title, text, severity, phase, link }, { server, token }, { http }) {
    const response = await http(urlAt(server, '/message'), {
      // A token in the URL would be in the logs of proxies.
      headers: { 'x-gotify-key': token },
      json: {
        title,
        // Gotify rejects an empty message.
        message: text === '' ? title : text,
        priority: phase === 'resolved' ? RESOLVED_PRIORITY : PRIORITY[severity],
        extras: {
          'client::display': { contentType: 'text/plain' },
          ...(link !== null && { 'client::notification': { click: { url: link } } }),
        },
      },
    })
    requireSuccess(response, response.status === 401 || response.status === 403)
  },
})
