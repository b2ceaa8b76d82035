import { requireThat, textAt, type Contract } from './contract.ts'

const apprise: Contract = {
  hosted: null,
  settings: (server) => ({ server: `${server}/apprise`, key: 'team-key', tag: 'oncall' }),
  accept({ method, url, json }) {
    requireThat(
      method === 'POST' && /^\/apprise\/notify\/team-key\/?$/.test(url.pathname),
      'not found',
      404,
    )
    const title = textAt(json, 'title', 10_000)
    const body = textAt(json, 'body', 100_000, 1)
    const type = textAt(json, 'type', 10)
    requireThat(['info', 'success', 'warning', 'failure'].includes(type), { error: 'type' })
    requireThat(['text', 'markdown', 'html'].includes(textAt(json, 'format', 10)), {
      error: 'format',
    })
    return { shown: `${title}\n${body}`, reply: { status: 200, body: '' } }
  },
  dead: { status: 204, body: '' },
  rejected: { status: 424, body: { error: 'One or more notification could not be sent.' } },
}

const BODY =
  '{"to": ["+49123"], "text": "{{title}}\\n{{text}}", "state": "{{phase}} {{severity}}", "link": "{{link}}"}'

const template: Contract = {
  hosted: null,
  settings: (origin) => ({
    url: `${origin}/send?account=7`,
    method: 'PUT',
    headers: 'Authorization: Bearer abc | X-Priority: 1',
    body: BODY,
  }),
  accept({ method, url, headers, json }) {
    requireThat(
      method === 'PUT' && url.pathname + url.search === '/send?account=7',
      'not found',
      404,
    )
    requireThat(headers.authorization === 'Bearer abc' && headers['x-priority'] === '1', 'key', 401)
    requireThat(Object.keys(json as object).join() === 'to,text,state,link', 'another structure')
    requireThat(
      /^(open|update|resolved|once) (critical|error|warning|info)$/.test(textAt(json, 'state', 20)),
      'state',
    )
    return { shown: textAt(json, 'text', 10_000, 1), reply: { status: 200, body: '' } }
  },
  dead: { status: 410, body: 'gone' },
  rejected: { status: 422, body: 'no' },
}

export const OTHER_SERVICES = { apprise, template }
