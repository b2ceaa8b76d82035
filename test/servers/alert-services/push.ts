import { linkAt, requireThat, textAt, valueAt, type Contract } from './contract.ts'

const ntfy: Contract = {
  hosted: null,
  settings: (server) => ({ server, topic: 'portreeve-x7k2', token: 'tk_abcdefghijklmnop' }),
  accept({ method, url, headers, body, json }) {
    requireThat(method === 'POST' && url.pathname === '/', { code: 40401 }, 404)
    requireThat(Buffer.byteLength(body) <= 8_192, { code: 41303 }, 413)
    requireThat(headers.authorization === 'Bearer tk_abcdefghijklmnop', { code: 40101 }, 401)
    requireThat(/^[-_A-Za-z0-9]{1,64}$/.test(textAt(json, 'topic', 64)), { code: 40009 })
    const [title, message] = [textAt(json, 'title', 1_024), textAt(json, 'message', 4_096)]
    requireThat(Buffer.byteLength(title) <= 1_024, { code: 40001 })
    requireThat(Buffer.byteLength(message) <= 4_096, 'the message would become a file')
    const priority = valueAt(json, 'priority')
    requireThat(typeof priority === 'number' && priority >= 1 && priority <= 5, { code: 40007 })
    requireThat(Buffer.byteLength(JSON.stringify(valueAt(json, 'tags'))) <= 512, { code: 40001 })
    requireThat(/^[-_A-Za-z0-9]{1,64}$/.test(textAt(json, 'sequence_id', 64)), { code: 40049 })
    linkAt(json, 'click')
    return { shown: `${title}\n${message}`, reply: { status: 200, body: { id: 'sPs71M8A2T' } } }
  },
  dead: { status: 403, body: { code: 40301, http: 403, error: 'forbidden' } },
  rejected: { status: 400, body: { code: 40007, http: 400, error: 'invalid priority' } },
}

const gotify: Contract = {
  hosted: null,
  settings: (server) => ({ server, token: 'AbCdEfGhIjKlMn.' }),
  accept({ method, url, headers, json }) {
    requireThat(method === 'POST' && url.pathname === '/message', { errorCode: 404 }, 404)
    requireThat(url.search === '', 'a token in the URL')
    requireThat(headers['x-gotify-key'] === 'AbCdEfGhIjKlMn.', { errorCode: 401 }, 401)
    const title = textAt(json, 'title', 10_000)
    const message = textAt(json, 'message', 100_000, 1)
    requireThat(Number.isInteger(valueAt(json, 'priority')), 'the priority is no integer')
    const display = valueAt(json, 'extras') as Record<string, unknown> | undefined
    requireThat(
      display === undefined ||
        valueAt(display['client::display'], 'contentType') !== 'text/markdown',
      'Markdown without escapes',
    )
    return { shown: `${title}\n${message}`, reply: { status: 200, body: { id: 25, appid: 5 } } }
  },
  dead: { status: 401, body: { error: 'Unauthorized', errorCode: 401 } },
  rejected: { status: 400, body: { error: 'Bad Request', errorCode: 400 } },
}

const PUSHOVER_FIELDS = new Set(
  'token user device title message priority timestamp url url_title sound ttl tags'.split(' '),
)

const pushover: Contract = {
  hosted: 'https://api.pushover.net',
  settings: () => ({ token: 'a'.repeat(30), user: 'u'.repeat(30), device: 'phone' }),
  accept({ method, url, headers, body }) {
    requireThat(method === 'POST' && url.pathname === '/1/messages.json', 'not found', 404)
    requireThat(headers['content-type'] === 'application/x-www-form-urlencoded', 'no form')
    const form = Object.fromEntries(new URLSearchParams(body))
    requireThat(form['token'] === 'a'.repeat(30), { token: 'invalid', status: 0 })
    requireThat(form['user'] === 'u'.repeat(30), { user: 'invalid', status: 0 })
    requireThat(
      Object.keys(form).every((name) => PUSHOVER_FIELDS.has(name)),
      'unknown field',
    )
    requireThat(form['html'] === undefined, 'HTML without escapes')
    const [title, message] = [textAt(form, 'title', 250), textAt(form, 'message', 1_024, 1)]
    linkAt(form, 'url', 512)
    const priority = Number(form['priority'])
    requireThat(priority >= -2 && priority <= 1, { priority: 'invalid', status: 0 })
    requireThat(/^\d{10}$/.test(form['timestamp'] ?? ''), { timestamp: 'invalid', status: 0 })
    return { shown: `${title}\n${message}`, reply: { status: 200, body: { status: 1 } } }
  },
  dead: { status: 400, body: { user: 'invalid', errors: ['user key is invalid'], status: 0 } },
  rejected: { status: 400, body: { message: 'cannot be blank', status: 0 } },
}

export const PUSH_SERVICES = { ntfy, gotify, pushover }
