import { Type } from 'typebox'
import type { Severity } from '../severity.ts'
import { problemKey } from './appearance.ts'
import { defineChannel, type Delivery } from './define-channel.ts'
import { requireSuccess } from './outcomes.ts'
import { OneOf, Secret } from './fields.ts'
import type { ServiceResponse } from './http.ts'

const ENDPOINTS = {
  'Jira Service Management': 'https://api.atlassian.com/jsm/ops/integration/v2/alerts',
  Opsgenie: 'https://api.opsgenie.com/v2/alerts',
  'Opsgenie EU': 'https://api.eu.opsgenie.com/v2/alerts',
}

const PRIORITY: Record<Severity, string> = {
  critical: 'P1',
  error: 'P2',
  warning: 'P3',
  info: 'P5',
}

/** An alert of Jira Service Management, which was Opsgenie. */
export const jsm = defineChannel({
  id: 'jsm',
  name: 'Jira Service Management',
  group: 'paging',
  keywords: 'opsgenie atlassian jsm',
  docs: 'Add an API integration to the team’s operations and copy its API key.',
  ending: 'The alert is closed.',
  disabling: 'The API key is not valid (401, 403, 422).',
  fields: Type.Object({
    key: Secret({ label: 'API key' }, { maxLength: 200 }),
    service: OneOf(['Jira Service Management', 'Opsgenie', 'Opsgenie EU'], {
      label: 'Product',
      help: 'Atlassian shuts down the Opsgenie API in April 2027.',
    }),
  }),
  limits: { title: 130, text: 14_000, perMinute: 60 },
  isPaging: true,
  // Alerts with the same alias are one.
  isIdempotent: true,
  async send(delivery, { key, service }, { http }) {
    const alias = problemKey(delivery)
    const endpoint = ENDPOINTS[service]
    const isEnd = delivery.phase === 'resolved'
    const response = await http(
      isEnd ? `${endpoint}/${alias}/close?identifierType=alias` : endpoint,
      {
        headers: { authorization: `GenieKey ${key}` },
        json: isEnd ? { source: 'Portreeve', note: delivery.title } : alertOf(delivery, alias),
      },
    )
    requireSuccess(response, isDead(response))
  },
  async showHandling(delivery, { key, service }, { http }) {
    const { state, line } = delivery.handling
    if (state !== 'acknowledged') return
    const response = await http(
      `${ENDPOINTS[service]}/${problemKey(delivery)}/acknowledge?identifierType=alias`,
      {
        headers: { authorization: `GenieKey ${key}` },
        json: { source: 'Portreeve', note: line ?? '' },
      },
    )
    requireSuccess(response, isDead(response))
  },
})

function alertOf({ title, text, severity, link }: Delivery, alias: string) {
  return {
    message: title,
    alias,
    description: link === null ? text : `${text}\n\n${link}`,
    priority: PRIORITY[severity],
    source: 'Portreeve',
  }
}

/** 422 is a key of a wrong form, or an alert that is not valid. */
function isDead({ status, json }: ServiceResponse): boolean {
  if (status === 401 || status === 403) return true
  return status === 422 && /\bkey\b/i.test(String(json['message']))
}
