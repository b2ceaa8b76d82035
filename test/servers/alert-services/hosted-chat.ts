import {
  Refused,
  linkAt,
  readHtml,
  readMarkdown,
  requireThat,
  textAt,
  valueAt,
  type Contract,
} from './contract.ts'

const SLACK_PATH = '/services/T00000000/B00000000/abcdefghijklmnop'

const slack: Contract = {
  hosted: 'https://hooks.slack.com',
  settings: () => ({ url: `https://hooks.slack.com${SLACK_PATH}` }),
  accept({ method, url, json }) {
    requireThat(method === 'POST' && url.pathname === SLACK_PATH, 'no_service', 404)
    readHtml(textAt(json, 'text', 40_000, 1), /$^/g)
    const blocks = valueAt(json, 'blocks')
    requireThat(Array.isArray(blocks) && blocks.length <= 50, 'invalid_blocks')
    const shown = blocks.map((block) => {
      const type = valueAt(block, 'type')
      if (type === 'header') {
        requireThat(valueAt(block, 'text.type') === 'plain_text', 'invalid_blocks')
        return textAt(block, 'text.text', 150, 1)
      }
      if (type === 'section') return readHtml(textAt(block, 'text.text', 3_000, 1), /$^/g)
      requireThat(type === 'actions', 'invalid_blocks')
      const elements = valueAt(block, 'elements')
      requireThat(Array.isArray(elements) && elements.length <= 25, 'invalid_blocks')
      for (const element of elements) {
        textAt(element, 'text.text', 75, 1)
        linkAt(element, 'url', 3_000)
      }
      return ''
    })
    return { shown: shown.join('\n'), reply: { status: 200, body: 'ok' } }
  },
  dead: { status: 404, body: 'no_service' },
  rejected: { status: 400, body: 'invalid_blocks' },
}

const DISCORD_WEBHOOK = 'webhooks/223704706495545344/3d89bb7572e0fb30d8128367b3b1b44f'
/** Without a version, times are in milliseconds. */
const DISCORD_PATH = `/api/v10/${DISCORD_WEBHOOK}`

const discord: Contract = {
  hosted: 'https://discord.com',
  settings: () => ({ url: `https://discord.com/api/${DISCORD_WEBHOOK}` }),
  accept({ method, url, json }) {
    const edit = `${DISCORD_PATH}/messages/1234567890`
    const isEdit = method === 'PATCH' && url.pathname === edit
    requireThat(
      isEdit || (method === 'POST' && url.pathname === DISCORD_PATH),
      { code: 10_015 },
      404,
    )
    requireThat(JSON.stringify(valueAt(json, 'allowed_mentions.parse')) === '[]', 'mentions are on')
    const title = textAt(json, 'embeds.0.title', 256, 1)
    const text = textAt(json, 'embeds.0.description', 4_096)
    requireThat(title.length + text.length <= 6_000, { code: 50_035 })
    linkAt(json, 'embeds.0.url')
    const color = valueAt(json, 'embeds.0.color')
    requireThat(Number.isInteger(color) && Number(color) <= 0xffffff, { code: 50_035 })
    const shown = `${readMarkdown(title)}\n${readMarkdown(text)}`
    if (isEdit) return { shown: `edited: ${shown}`, reply: { status: 200 } }
    requireThat(url.search === '?wait=true', 'without wait there is no ID')
    return { shown, reply: { status: 200, body: { id: '1234567890' } } }
  },
  dead: { status: 404, body: { message: 'Unknown Webhook', code: 10_015 } },
  rejected: { status: 400, body: { message: 'Invalid Form Body', code: 50_035 } },
  busy: { status: 429, body: { retry_after: 60, global: false } },
}

const telegramError = (status: number, description: string) => ({
  status,
  body: { ok: false, error_code: status, description },
})

/** A group that has become the supergroup of the settings. */
export const TELEGRAM_OLD_GROUP = '-4567'

const telegram: Contract = {
  hosted: 'https://api.telegram.org',
  settings: () => ({
    token: '123456789:AAabcdefghijklmnopqrstuvwxyz',
    chat: '-1001234567890',
    topic: '42',
  }),
  accept({ method, url, json }) {
    const [, verb] =
      /^\/bot123456789:AAabcdefghijklmnopqrstuvwxyz\/(sendMessage|editMessageText)$/.exec(
        url.pathname,
      ) ?? []
    requireThat(method === 'POST' && verb !== undefined, 'Not Found', 404)
    if (valueAt(json, 'chat_id') === TELEGRAM_OLD_GROUP)
      throw new Refused({
        status: 400,
        body: {
          ok: false,
          error_code: 400,
          description: 'Bad Request: group chat was upgraded to a supergroup chat',
          parameters: { migrate_to_chat_id: -1001234567890 },
        },
      })
    requireThat(valueAt(json, 'chat_id') === '-1001234567890', 'Bad Request: chat not found')
    requireThat(valueAt(json, 'parse_mode') === 'HTML', 'Bad Request: parse_mode')
    requireThat(valueAt(json, 'link_preview_options.is_disabled') === true, 'a preview')
    const shown = readHtml(textAt(json, 'text', 100_000, 1), /<\/?b>|<a href="[^"<>]*">|<\/a>/g)
    requireThat(!/(?<![\p{L}\p{N}])@(?=\w)/u.test(shown), 'mention')
    requireThat(shown.length <= 4_096, 'Bad Request: message is too long')
    const rows = valueAt(json, 'reply_markup.inline_keyboard') ?? []
    requireThat(Array.isArray(rows), 'Bad Request: inline keyboard expected')
    for (const button of rows.flat()) {
      textAt(button, 'text', 64, 1)
      requireThat(URL.canParse(textAt(button, 'url', 2_000)), 'Bad Request: BUTTON_URL_INVALID')
    }
    if (verb === 'editMessageText') {
      requireThat(valueAt(json, 'message_id') === 77, 'Bad Request: message to edit not found')
      return { shown: `edited: ${shown}`, reply: { status: 200, body: { ok: true, result: {} } } }
    }
    requireThat(valueAt(json, 'message_thread_id') === 42, 'message thread not found')
    const reply = valueAt(json, 'reply_parameters.message_id')
    requireThat(reply === undefined || Number.isInteger(reply), 'Bad Request: no message ID')
    return { shown, reply: { status: 200, body: { ok: true, result: { message_id: 77 } } } }
  },
  dead: telegramError(403, 'Forbidden: bot was kicked from the supergroup chat'),
  rejected: telegramError(400, "Bad Request: can't parse entities"),
  busy: { status: 429, body: { ok: false, error_code: 429, parameters: { retry_after: 60 } } },
}

const TEAMS_HOST = 'https://prod-23.westeurope.logic.azure.com'
const TEAMS_PATH = '/workflows/0fc3/triggers/manual/paths/invoke'

const teams: Contract = {
  hosted: TEAMS_HOST,
  settings: () => ({
    url: `${TEAMS_HOST}:443${TEAMS_PATH}?api-version=2016-06-01&sig=abcdefghijk`,
  }),
  accept({ method, url, body, json }) {
    requireThat(method === 'POST' && url.pathname === TEAMS_PATH, 'not found', 404)
    requireThat(url.searchParams.get('sig') === 'abcdefghijk', 'signature', 401)
    requireThat(Buffer.byteLength(body) <= 28 * 1024, 'too large', 413)
    requireThat(valueAt(json, 'type') === 'message', 'no message')
    const kind = valueAt(json, 'attachments.0.contentType')
    requireThat(kind === 'application/vnd.microsoft.card.adaptive', 'no Adaptive Card')
    const card = valueAt(json, 'attachments.0.content')
    requireThat(valueAt(card, 'type') === 'AdaptiveCard', 'no Adaptive Card')
    requireThat(valueAt(card, 'version') === '1.4', 'version')
    const blocks = valueAt(card, 'body')
    requireThat(Array.isArray(blocks), 'no body')
    const actions = valueAt(card, 'actions') ?? []
    requireThat(Array.isArray(actions) && actions.length <= 6, 'too many actions')
    for (const action of actions) {
      requireThat(valueAt(action, 'type') === 'Action.OpenUrl', 'unknown action')
      linkAt(action, 'url')
    }
    return { shown: blocks.flatMap(linesOfBlock).join('\n'), reply: { status: 202, body: '' } }
  },
  dead: { status: 404, body: { error: { code: 'WorkflowNotFound' } } },
  rejected: { status: 400, body: { error: { code: 'InvalidRequestContent' } } },
}

function linesOfBlock(block: unknown): string[] {
  if (valueAt(block, 'type') === 'Container')
    return (valueAt(block, 'items') as unknown[]).flatMap(linesOfBlock)
  // A TextBlock would be Markdown.
  requireThat(valueAt(block, 'type') === 'RichTextBlock', 'unknown block')
  requireThat(valueAt(block, 'inlines.0.type') === 'TextRun', 'unknown inline')
  return [textAt(block, 'inlines.0.text', 20_000, 1)]
}

const GOOGLE_PATH = '/v1/spaces/AAAA_bbbb/messages'

const googleChat: Contract = {
  hosted: 'https://chat.googleapis.com',
  settings: () => ({
    url: `https://chat.googleapis.com${GOOGLE_PATH}?key=AIzaSyabcdef&token=vUxyzabcdefg`,
  }),
  accept({ method, url, json }) {
    requireThat(method === 'POST' && url.pathname === GOOGLE_PATH, 'not found', 404)
    requireThat(url.searchParams.get('token') === 'vUxyzabcdefg', 'token', 401)
    const option = url.searchParams.get('messageReplyOption')
    requireThat(option === 'REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD', 'threads are ignored')
    textAt(json, 'thread.threadKey', 4_000, 1)
    const text = textAt(json, 'text', 4_000, 1).replaceAll(
      /<https?:\/\/[^\s<>|]+\|(Acknowledge|Snooze|Mute)>/g,
      '$1',
    )
    requireThat(!/<[^\s\u200B]/.test(text), 'a mention or link')
    requireThat(!/[*_~`][^\s\u200B]/.test(text.replaceAll(/https?:\S+/g, '')), 'markup')
    return { shown: text, reply: { status: 200, body: { name: 'spaces/AAAA_bbbb/messages/1' } } }
  },
  dead: { status: 404, body: { error: { code: 404, status: 'NOT_FOUND' } } },
  rejected: { status: 400, body: { error: { code: 400, status: 'INVALID_ARGUMENT' } } },
}

export const HOSTED_CHAT_SERVICES = {
  slack,
  discord,
  telegram,
  teams,
  'google-chat': googleChat,
}
