import { Type } from 'typebox'
import { defineChannel, requireSuccess } from './define-channel.ts'
import { OneOf, Secret } from './fields.ts'

const HOSTS = { US: 'events.pagerduty.com', EU: 'events.eu.pagerduty.com' }

/** An incident in PagerDuty, which its end resolves; Events API v2. */
export const pagerduty = defineChannel({
  id: 'pagerduty',
  name: 'PagerDuty',
  group: 'paging',
  docs: 'Add an “Events API V2” integration to a service and copy its integration key.',
  fields: Type.Object({
    key: Secret(
      { label: 'Integration key', help: '32 characters.' },
      { pattern: '^[A-Za-z0-9]{32}$' },
    ),
    region: OneOf(['US', 'EU'], { label: 'Region' }),
  }),
  limits: { title: 1_000, text: 4_000, perMinute: 60 },
  isPaging: true,
  // A repeated event has the same key.
  isIdempotent: true,
  async send(delivery, { key, region }, { http }) {
    const { title, text, severity, phase, link, at, incident, id } = delivery
    const response = await http(`https://${HOSTS[region]}/v2/enqueue`, {
      json: {
        routing_key: key,
        event_action: phase === 'resolved' ? 'resolve' : 'trigger',
        dedup_key: (incident ?? id).slice(0, 255),
        payload: {
          summary: title,
          source: 'Portreeve',
          severity,
          timestamp: at.toISOString(),
          custom_details: { text },
        },
        ...(link !== null && { client: 'Portreeve', client_url: link }),
      },
    })
    requireSuccess(response, false)
  },
})
