import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { readCommandSecret, readConfig } from '../config.ts'
import { Fault, messageOf } from '../errors.ts'
import { askService, followEvents, type ServerEvent } from '../net/http/event-stream.ts'
import { forward } from '../net/http/forward.ts'
import type { shownRequest } from '../webhooks/shown.ts'
import { UsageError, type Command } from './command.ts'
import { askSecret } from './prompt.ts'
import { foreign, paint } from './text.ts'

const USAGE = `Usage: portreeve listen TOKEN --to http://localhost:3000

Forwards what a webhook endpoint captures to a server on this machine, byte for byte and in order, until Ctrl-C. When the
connection to the service breaks, it goes on where it was. TOKEN is the last part of the endpoint's URL.

  --to URL             where to send; the path below the token is appended
  --server URL         the service (BASE_URL)
  --all                begin with the requests that are kept already
  --api-token-file F   a file with an API token; otherwise PORTREEVE_API_TOKEN, or it is asked for
  --json               print a JSON line for each request`

const OPTIONS = {
  to: { type: 'string' },
  server: { type: 'string' },
  all: { type: 'boolean', default: false },
  'api-token-file': { type: 'string' },
  json: { type: 'boolean', default: false },
} as const

/** Milliseconds before the first and at most before any later try to connect again. */
const BACK_OFF = { first: 500, most: 15_000 }

/** Milliseconds for the server on this machine to answer. */
const ANSWER_DEADLINE = 30_000

type Captured = ReturnType<typeof shownRequest>
type Listening = { events: URL; to: URL; apiToken: string; json: boolean }

export const listenCommand: Command = {
  name: 'listen',
  usage: USAGE,
  async run(args) {
    const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true })
    const [token = '', ...more] = positionals
    if (!/^[A-Za-z0-9]{10}$/.test(token) || more.length > 0) throw new UsageError('give the token of one endpoint.')
    const to = urlOf(values.to, '--to')
    const server = urlOf(values.server ?? readConfig().BASE_URL, '--server')
    const apiToken = await apiTokenFrom(values['api-token-file'])
    const stopping = new AbortController()
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stopping.abort())
    const id = await findEndpoint(server, token, apiToken, stopping.signal)
    const events = new URL(`/api/webhook/endpoints/${id}/events`, server)
    if (!values.json) console.error(`Forwarding ${token} to ${to.href}. Ctrl-C ends it.`)
    return listen({ events, to, apiToken, json: values.json }, values.all ? '0' : null, stopping.signal)
  },
}

async function findEndpoint(server: URL, token: string, apiToken: string, signal: AbortSignal): Promise<string> {
  type Answer = { endpoints: { id: string; token: string }[] }
  const { endpoints } = await askService<Answer>(new URL('/api/webhook/endpoints', server), apiToken, signal)
  const endpoint = endpoints.find((one) => one.token === token)
  if (!endpoint) throw new Fault('not_found', `This account has no webhook endpoint ${token}.`)
  return endpoint.id
}

/** @returns the exit code: 0 when it was stopped, 1 when the endpoint was deleted */
async function listen(listening: Listening, from: string | null, signal: AbortSignal): Promise<number> {
  let after = from
  let wait = BACK_OFF.first
  while (!signal.aborted) {
    try {
      for await (const event of followEvents(listening.events, { token: listening.apiToken, after }, signal)) {
        wait = BACK_OFF.first
        if (event.name === 'deleted') return 1
        await take(event, listening, signal)
        after = event.id
      }
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== 'upstream_unreachable') throw error
      console.error(paint('yellow', error.message))
    }
    await sleep(wait, undefined, { signal }).catch(() => {})
    wait = Math.min(wait * 2, BACK_OFF.most)
  }
  return 0
}

async function take({ name, data }: ServerEvent, { to, json }: Listening, signal: AbortSignal): Promise<void> {
  if (name === 'skipped') console.error(paint('yellow', 'Some requests came too fast and were left out.'))
  if (name !== 'request') return
  const request = JSON.parse(data) as Captured
  const begun = performance.now()
  const outcome = whyNot(request) ?? (await send(to, request, signal))
  const ms = Math.round(performance.now() - begun)
  const { id, method, path, query } = request
  if (json) {
    console.log(JSON.stringify({ id, method, path, query, ...outcome, ms }))
    return
  }
  const target = foreign(path + (query && `?${query}`)) || '/'
  const result = 'status' in outcome ? `${outcome.status} ${paint('dim', `${ms} ms`)}` : paint('red', outcome.error)
  console.log(`${method.padEnd(7)} ${target} → ${result}`)
}

/** What was not received whole cannot be sent as it was. */
function whyNot({ rejected, aborted, truncated }: Captured): { error: string } | null {
  if (rejected !== null) return { error: `not forwarded, it was refused: ${rejected}` }
  if (aborted || truncated) return { error: 'not forwarded: not all of its body was kept' }
  return null
}

async function send(to: URL, request: Captured, signal: AbortSignal): Promise<{ status: number } | { error: string }> {
  const { method, headers, path, query } = request
  const body = Buffer.from(request.body, request.bodyEncoding)
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_DEADLINE)])
  try {
    const status = await forward(to, { method, path: path + (query && `?${query}`), headers, body }, deadline)
    return { status }
  } catch (error) {
    return { error: `${to.host} did not answer: ${messageOf(error)}` }
  }
}

function urlOf(text: string | undefined, option: string): URL {
  const url = text !== undefined && URL.canParse(text) ? new URL(text) : null
  if (!url || !['http:', 'https:'].includes(url.protocol))
    throw new UsageError(`${option} must be an http or https URL`)
  // It would be printed, and fetch refuses it with its password in the message.
  if (url.username || url.password) throw new UsageError(`${option} must not have a name or password in it`)
  return url
}

async function apiTokenFrom(file: string | undefined): Promise<string> {
  if (file !== undefined && !existsSync(file)) throw new UsageError(`there is no file ${file}`)
  const told = file === undefined ? readCommandSecret('PORTREEVE_API_TOKEN') : readFileSync(file, 'utf8').trim()
  const token = told ?? (await askSecret('API token'))
  if (!token) throw new UsageError('there is no API token: set PORTREEVE_API_TOKEN or give --api-token-file')
  return token
}
