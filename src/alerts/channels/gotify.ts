import { Type } from 'typebox'
import type { Severity } from '../severity.ts'
import { defineChannel, requireSuccess } from './define-channel.ts'
import { Secret, SelfHosted } from './fields.ts'

const PRIORITY: Record<Severity, number> = { critical: 8, error: 6, warning: 4, info: 2 }

/** Push notifications by an own Gotify server; https://gotify.net/docs/pushmsg. */
export const gotify = defineChannel({
  id: 'gotify',
  name: 'Gotify',
  group: 'push',
  docs: 'In Gotify, under “Apps”, create an application and copy its token.',
  fields: Type.Object({
    server: SelfHosted('https://gotify.example.com', {
      label: 'Server',
      help: 'It may be in a private network that ALERT_PRIVATE_TARGETS names.',
    }),
    token: Secret({ label: 'Application token', placeholder: 'A…' }),
  }),
  limits: { title: 250, text: 4_000, perMinute: 60 },
  nameOf: ({ server = '' }) => `Gotify (${URL.canParse(server) ? new URL(server).host : server})`,
  async send({ title, text, severity, phase, link }, { server, token }, { http }) {
    const response = await http(`${server.replace(/\/+$/, '')}/message`, {
      headers: { 'x-gotify-key': token },
      json: {
        title,
        // Gotify refuses an empty message.
        message: text === '' ? title : text,
        priority: phase === 'resolved' ? 2 : PRIORITY[severity],
        extras: {
          'client::display': { contentType: 'text/plain' },
          ...(link !== null && { 'client::notification': { click: { url: link } } }),
        },
      },
    })
    requireSuccess(response, response.status === 401 || response.status === 403)
  },
})
