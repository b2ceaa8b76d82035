import { setTimeout as sleep } from 'node:timers/promises'
import type { Static } from 'typebox'
import { STEP_TITLES } from '../../migration/cutover/messages.ts'
import type { Cutover as CutoverShape } from '../../migration/cutover/shapes.ts'
import { askService } from '../../net/http/event-stream.ts'
import { SECOND_MS } from '../../time.ts'
import { UsageError } from '../command.ts'
import { apiTokenFrom, serverFrom, serviceUrl } from '../service-access.ts'
import { paint, sanitizeForTerminal, table } from '../terminal-text.ts'
import { isUuid } from '../../store/uuid.ts'

type Cutover = Static<typeof CutoverShape>
type ServiceFlags = { server?: string | undefined; 'api-token-file'?: string | undefined }

const REQUEST_TIMEOUT_MS = 30 * SECOND_MS
const WAIT_MS = 5 * SECOND_MS
/** Asks the service about the cut-over of a batch. */
type Ask = (path?: string, body?: object) => Promise<Cutover | null>

async function askAbout(batch: string, flags: ServiceFlags): Promise<Ask> {
  if (!isUuid(batch))
    throw new UsageError(`${sanitizeForTerminal(batch)} is not the id of a batch.`)
  const server = serverFrom(flags.server)
  const token = await apiTokenFrom(flags['api-token-file'])
  return async (path = '', body) => {
    const url = serviceUrl(server, `/api/v1/imap/batches/${batch}/cutover${path}`)
    const sent = path === '' && !body ? undefined : { ...(body && { body }) }
    const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS)
    return (await askService<{ data: Cutover | null }>(url, token, signal, 'data', sent)).data
  }
}

/** Shows a cut-over. @returns the exit code: 1 when it needs a person, was cancelled, or is none */
export async function showCutover(
  batch: string,
  flags: ServiceFlags & { wait: boolean },
  json: boolean,
): Promise<number> {
  const ask = await askAbout(batch, flags)
  let cutover = await ask()
  let shown = ''
  while (flags.wait && cutover?.status === 'open' && !cutover.needsAction) {
    const text = textOf(cutover)
    if (!json && text !== shown) console.log(`${text}\n`)
    shown = text
    await sleep(WAIT_MS)
    cutover = await ask()
  }
  return print(cutover, json)
}

export async function beginCutover(
  batch: string,
  flags: ServiceFlags & {
    domain: string
    mx: string[]
    ttl?: number | undefined
    'quiet-hours'?: number | undefined
    'full-proof': boolean
  },
  json: boolean,
): Promise<number> {
  const { domain, mx, ttl, 'quiet-hours': quietHours } = flags
  const ask = await askAbout(batch, flags)
  const proofLevel = flags['full-proof'] ? 'full' : 'headers'
  return print(await ask('', { domain, mx, ttl, quietHours, proofLevel }), json)
}

export async function confirmCutoverStep(
  batch: string,
  step: string,
  flags: ServiceFlags & { note: string; skip: boolean },
  json: boolean,
): Promise<number> {
  const ask = await askAbout(batch, flags)
  const outcome = flags.skip ? 'skipped' : 'confirmed'
  return print(await ask(`/steps/${step}/confirm`, { outcome, note: flags.note }), json)
}

export async function actOnCutover(
  batch: string,
  action: 'final-pass' | 'cancel',
  flags: ServiceFlags,
  json: boolean,
): Promise<number> {
  const ask = await askAbout(batch, flags)
  const code = print(await ask(`/${action}`), json)
  // A cut-over that was cancelled on request is no failure.
  return action === 'cancel' ? 0 : code
}

function print(cutover: Cutover | null, json: boolean): number {
  if (json) console.log(JSON.stringify({ success: true, data: cutover }))
  else console.log(cutover ? textOf(cutover) : 'This batch has no cut-over.')
  const isFine = cutover && cutover.status !== 'cancelled' && !cutover.needsAction
  return isFine ? 0 : 1
}

const MARKS = { done: '✓', open: '›', waiting: ' ' }

function textOf({ domain, status, steps, advice, dns, quiet }: Cutover): string {
  const rows = steps.map(({ step, state, outcome, person, closedAt, note }) => [
    MARKS[state],
    STEP_TITLES[step],
    state === 'done'
      ? [outcome, person && `by ${person}`, closedAt].filter(Boolean).join(' ')
      : state,
    note ?? '',
  ])
  const seen = [
    ...dns.servers.map(({ server, hosts, ttl, problem }) => [
      server,
      problem ?? `${hosts.join(', ') || 'no MX records'} (TTL ${ttl})`,
    ]),
    ...(dns.resolver
      ? [['resolver', dns.resolver.problem ?? (dns.resolver.hosts.join(', ') || 'no MX records')]]
      : []),
    ...quiet.mailboxes.map(({ source, messages, lastArrivalAt }) => [
      source,
      `${messages} new at the old server, last at ${lastArrivalAt}`,
    ]),
  ]
  const safe = (lines: string[][]) => lines.map((line) => line.map(sanitizeForTerminal))
  return [
    `Cut-over of ${sanitizeForTerminal(domain)}: ${status}`,
    table(safe(rows)),
    ...(seen.length > 0 ? ['', table(safe(seen))] : []),
    ...(advice === null ? [] : ['', paint('bold', sanitizeForTerminal(advice))]),
  ].join('\n')
}
