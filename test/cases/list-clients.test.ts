import { afterAll } from 'vitest'
import { startTestService } from '../service.ts'
import { runCases } from './run-cases.ts'

/** A request of a client that reads a list; `FLEET` in its path is the ID of the fleet collection. */
type Input = {
  path: string
  method?: string
  headers?: Record<string, string>
  /** How it sends the key of a bouncer. */
  key?: 'basic' | 'x-api-key'
  /** A request before it, whose `next` is `NEXT` in its path. */
  before?: string
}

const service = await startTestService({ REQUEST_LIMITS: 'off' })
afterAll(() => service.stop())
const alice = await service.addPerson('Alice')

async function post(path: string, body: object): Promise<Record<string, unknown>> {
  const answer = await service.request(`/api/v1/abuse/${path}`, {
    method: 'POST',
    token: alice.token,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return ((await answer.json()) as { data: Record<string, unknown> }).data
}

const key = String((await post('fleet/keys', {}))['key'])
for (const ip of ['9.5.2.1', '9.5.2.2', '2a02:d140:0:1::7'])
  await post('fleet/bans', { ip, seconds: 3_600 })

const keyHeaders = (form: Input['key']): Record<string, string> =>
  form === undefined
    ? {}
    : form === 'basic'
      ? { authorization: `Basic ${Buffer.from(`firewall:${key}`).toString('base64')}` }
      : { 'x-api-key': key }

type Body = {
  collections?: { id: string; title: string }[]
  objects?: unknown[]
  more?: boolean
  next?: string
  new?: unknown[] | null
  deleted?: unknown[] | null
}

async function request(path: string, { method = 'GET', headers = {}, key: form }: Partial<Input>) {
  const answer = await service.request(path, {
    method,
    headers: { ...keyHeaders(form), ...headers },
  })
  return { answer, text: await answer.text() }
}

const { text } = await request('/taxii2/lists/collections/', { key: 'basic' })
const fleet = (JSON.parse(text) as Body).collections?.find(
  ({ title }) => title === 'Fleet list',
)?.id

runCases('list-clients.json', async (input: Input) => {
  const pathOf = (path: string, next = '') =>
    path.replace('FLEET', fleet ?? '').replace('NEXT', encodeURIComponent(next))
  const first = input.before === undefined ? null : await request(pathOf(input.before), input)
  const next = first ? parse(first.text).next : undefined
  const { answer, text: body } = await request(pathOf(input.path, next), input)
  const json = parse(body)
  return {
    status: answer.status,
    type: answer.headers.get('content-type')?.replace(/; charset=.*/, ''),
    body,
    objects: json.objects?.length ?? 0,
    more: json.more ?? false,
    new: json.new?.length ?? null,
    deleted: json.deleted?.length ?? null,
    isList: Array.isArray(json),
  }
})

function parse(body: string): Body {
  try {
    return (JSON.parse(body) ?? {}) as Body
  } catch {
    return {}
  }
}
