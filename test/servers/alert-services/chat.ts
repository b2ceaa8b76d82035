import {
  bearerOf,
  linkAt,
  readHtml,
  readMarkdown,
  requireThat,
  textAt,
  valueAt,
  type Contract,
} from './contract.ts'

const ROOM = '!abcdefgh:example.com'

const matrix: Contract = {
  hosted: null,
  settings: (server) => ({ server, room: ROOM, token: 'syt_YWxlcnRz_abcdef' }),
  accept(call) {
    const { method, url, body, json } = call
    const [, room = '', transaction = ''] =
      /^\/_matrix\/client\/v3\/rooms\/([^/]+)\/send\/m\.room\.message\/([^/]+)$/.exec(
        url.pathname,
      ) ?? []
    requireThat(method === 'PUT' && transaction !== '', { errcode: 'M_UNRECOGNIZED' }, 404)
    requireThat(
      bearerOf(call) === 'Bearer syt_YWxlcnRz_abcdef',
      { errcode: 'M_UNKNOWN_TOKEN' },
      401,
    )
    requireThat(decodeURIComponent(room) === ROOM, { errcode: 'M_FORBIDDEN' }, 403)
    requireThat(Buffer.byteLength(body) <= 64_000, { errcode: 'M_TOO_LARGE' }, 413)
    const content = json as Record<string, unknown>
    requireThat(JSON.stringify(content['m.mentions']) === '{}', 'mentions are on')
    const shown = contentOf(content)
    const edit = content['m.new_content']
    if (edit !== undefined) {
      const relation = content['m.relates_to']
      requireThat(valueAt(relation, 'rel_type') === 'm.replace', { errcode: 'M_BAD_JSON' })
      requireThat(valueAt(relation, 'event_id') === '$first', { errcode: 'M_BAD_JSON' })
    }
    const reply = { status: 200, body: { event_id: '$first' } }
    return { shown: edit === undefined ? shown : `edited: ${contentOf(edit)}`, reply }
  },
  dead: { status: 401, body: { errcode: 'M_UNKNOWN_TOKEN', error: 'Invalid access token' } },
  rejected: { status: 413, body: { errcode: 'M_TOO_LARGE', error: 'event too large' } },
  busy: { status: 429, body: { errcode: 'M_LIMIT_EXCEEDED', retry_after_ms: 60_000 } },
}

function contentOf(content: unknown): string {
  requireThat(valueAt(content, 'msgtype') === 'm.text', { errcode: 'M_BAD_JSON' })
  requireThat(valueAt(content, 'format') === 'org.matrix.custom.html', 'no HTML')
  textAt(content, 'body', 20_000, 1)
  const html = textAt(content, 'formatted_body', 60_000, 1)
  return readHtml(html, /<\/?strong>|<a href="[^"<>]*">|<\/a>/g)
}

function attachedText(json: unknown, max: number): string {
  const path = 'attachments.0.text'
  return valueAt(json, path) === undefined ? '' : textAt(json, path, max)
}

const mattermost: Contract = {
  hosted: null,
  settings: (origin) => ({ url: `${origin}/hooks/xxgenerated1key2` }),
  accept({ method, url, json }) {
    requireThat(method === 'POST' && url.pathname === '/hooks/xxgenerated1key2', 'not found', 404)
    const text = textAt(json, 'text', 16_383)
    const attached = attachedText(json, 16_383)
    linkAt(json, 'attachments.0.title_link')
    const shown = `${readMarkdown(text)}\n${readMarkdown(attached)}`
    return { shown, reply: { status: 200, body: 'ok' } }
  },
  dead: {
    status: 400,
    body: { id: 'web.incoming_webhook.invalid.app_error', message: 'Invalid webhook.' },
  },
  rejected: {
    status: 400,
    body: { id: 'web.incoming_webhook.text.app_error', message: 'No text specified.' },
  },
}

const ROCKET_PATH = '/hooks/64f1c0ffee/AbCdEfGhIjKlMnOp'

const rocketchat: Contract = {
  hosted: null,
  settings: (origin) => ({ url: origin + ROCKET_PATH }),
  accept({ method, url, json }) {
    requireThat(method === 'POST' && url.pathname === ROCKET_PATH, { success: false }, 404)
    const text = readMarkdown(textAt(json, 'text', 1_000))
    const attached = attachedText(json, 1_000)
    linkAt(json, 'attachments.0.title_link')
    const links = valueAt(json, 'attachments.1.text')
    if (links !== undefined) readMarkdown(textAt(json, 'attachments.1.text', 1_000))
    const shown = `${text}\n${readMarkdown(attached)}`
    return { shown, reply: { status: 200, body: { success: true } } }
  },
  dead: {
    status: 404,
    body: { success: false, error: 'Invalid integration id or token provided.' },
  },
  rejected: { status: 400, body: { success: false, error: 'invalid-channel' } },
}

export const CHAT_SERVICES = { matrix, mattermost, rocketchat }
