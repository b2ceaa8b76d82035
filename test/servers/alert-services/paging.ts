import { linkAt, requireThat, textAt, valueAt, type Contract } from './contract.ts'

const invalidEvent = (error: string) => ({
  status: 'invalid event',
  message: 'Event object is invalid',
  errors: [error],
})

const pagerduty: Contract = {
  hosted: 'https://events.eu.pagerduty.com',
  settings: () => ({ key: 'k'.repeat(32), region: 'EU' }),
  accept({ method, url, body, json }) {
    requireThat(method === 'POST' && url.pathname === '/v2/enqueue', 'not found', 404)
    requireThat(Buffer.byteLength(body) <= 512 * 1024, 'too large', 413)
    requireThat(textAt(json, 'routing_key', 32) === 'k'.repeat(32), invalidEvent('routing key'))
    const key = textAt(json, 'dedup_key', 32, 1)
    const action = textAt(json, 'event_action', 20)
    const reply = { status: 202, body: { status: 'success', dedup_key: key } }
    if (action === 'resolve' || action === 'acknowledge')
      return { shown: `${action} ${key}`, reply }
    requireThat(action === 'trigger', invalidEvent("'event_action' is invalid"))
    const summary = textAt(json, 'payload.summary', 1_024, 1)
    textAt(json, 'payload.source', 1_024, 1)
    const severity = textAt(json, 'payload.severity', 10)
    requireThat(
      ['critical', 'error', 'warning', 'info'].includes(severity),
      invalidEvent("'severity' is invalid"),
    )
    requireThat(
      !Number.isNaN(Date.parse(textAt(json, 'payload.timestamp', 40))),
      invalidEvent("'timestamp' is invalid"),
    )
    linkAt(json, 'client_url')
    const text = textAt(json, 'payload.custom_details.text', 100_000)
    return { shown: `${summary}\n${text}`, reply }
  },
  dead: { status: 400, body: invalidEvent('Invalid routing key') },
  rejected: { status: 400, body: invalidEvent("'severity' is invalid") },
}

const accepted = { status: 202, body: { result: 'Request will be processed', requestId: '43a2' } }

const jsm: Contract = {
  hosted: 'https://api.atlassian.com',
  settings: () => ({ key: 'eb243592-faa2-4ba2-a551', service: 'Jira Service Management' }),
  accept({ method, url, headers, json }) {
    const [, rest] = /^\/jsm\/ops\/integration\/v2\/alerts(\/.+)?$/.exec(url.pathname) ?? [
      null,
      '/',
    ]
    requireThat(method === 'POST' && rest !== '/', 'not found', 404)
    requireThat(headers.authorization === 'GenieKey eb243592-faa2-4ba2-a551', 'key', 401)
    if (rest !== undefined) {
      const [, alias, action] = /^\/([^/]{1,512})\/(close|acknowledge)$/.exec(rest) ?? []
      requireThat(alias !== undefined, 'not found', 404)
      requireThat(url.searchParams.get('identifierType') === 'alias', 'not an alert ID', 422)
      textAt(json, 'note', 25_000)
      return {
        shown: `${action === 'close' ? 'resolve' : 'acknowledge'} ${alias}`,
        reply: accepted,
      }
    }
    const message = textAt(json, 'message', 130, 1)
    textAt(json, 'alias', 512, 1)
    textAt(json, 'source', 100)
    requireThat(/^P[1-5]$/.test(String(valueAt(json, 'priority'))), 'priority', 422)
    return { shown: `${message}\n${textAt(json, 'description', 15_000)}`, reply: accepted }
  },
  dead: { status: 422, body: { message: 'Key format is not valid!', took: 0.001 } },
  rejected: {
    status: 422,
    body: { message: 'Request body is not processable.', errors: { message: 'too long' } },
  },
}

export const PAGING_SERVICES = { pagerduty, jsm }
