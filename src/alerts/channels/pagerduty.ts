import { Type } from 'typebox'
import { OPEN_LABEL, problemKey } from './appearance.ts'
import { defineChannel, type Delivery } from './define-channel.ts'
import { requireSuccess } from './outcomes.ts'
import { OneOf, Secret } from './fields.ts'

const HOSTS = { US: 'https://events.pagerduty.com', EU: 'https://events.eu.pagerduty.com' }

/** An event of a PagerDuty service; https://developer.pagerduty.com/docs/send-alert-event. */
export const pagerDuty = defineChannel({
  id: 'pagerduty',
  name: 'PagerDuty',
  group: 'paging',
  keywords: 'pager duty',
  docs: 'Add the integration “Events API V2” to a service and copy its integration key.',
  ending: 'The PagerDuty incident is resolved.',
  disabling: 'PagerDuty does not know the integration key (400).',
  fields: Type.Object({
    key: Secret(
      { label: 'Integration key', help: '32 characters.' },
      { pattern: '^[A-Za-z0-9]{32}$' },
    ),
    region: OneOf(['US', 'EU'], {
      label: 'Service region',
      help: 'EU if the address of your account ends with eu.pagerduty.com.',
    }),
  }),
  limits: { title: 1_000, text: 15_000, perMinute: 60 },
  isPaging: true,
  // Events with the same key are one alert at PagerDuty.
  isIdempotent: true,
  async send(delivery, { key, region }, { http }) {
    const event = {
      routing_key: key,
      dedup_key: problemKey(delivery),
      ...(delivery.phase === 'resolved' ? { event_action: 'resolve' } : triggerOf(delivery)),
    }
    const response = await http(`${HOSTS[region]}/v2/enqueue`, { json: event })
    requireSuccess(response, /routing[_ ]key/i.test(response.body))
  },
  // There is no event that takes an acknowledgement back.
  async showHandling(delivery, { key, region }, { http }) {
    if (delivery.handling.state !== 'acknowledged') return
    const event = {
      routing_key: key,
      dedup_key: problemKey(delivery),
      event_action: 'acknowledge',
    }
    const response = await http(`${HOSTS[region]}/v2/enqueue`, { json: event })
    requireSuccess(response, /routing[_ ]key/i.test(response.body))
  },
})

function triggerOf({ title, text, severity, at, link }: Delivery) {
  return {
    event_action: 'trigger',
    payload: {
      summary: title,
      source: 'Portreeve',
      severity,
      timestamp: at.toISOString(),
      custom_details: { text },
    },
    client: 'Portreeve',
    ...(link !== null && { client_url: link, links: [{ href: link, text: OPEN_LABEL }] }),
  }
}
