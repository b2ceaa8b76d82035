import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { WebPlace, WebProcesses } from '../../app.ts'
import { Fault } from '../../errors.ts'
import { STOP_GRACE_MS } from '../../http/limits/server-limits.ts'
import type { ProcessMetrics } from '../../http/metrics/merge-metrics.ts'
import type { Logger } from '../../log.ts'
import { MINUTE_MS, SECOND_MS } from '../../time.ts'

/** What the first process sends to the others. */
export type ToProcess =
  | { type: 'start'; place: WebPlace; number: number; isJson: boolean }
  | { type: 'metrics'; id: number }
  | { type: 'stop' }

/** What they send to it. */
export type FromProcess =
  | { type: 'ready' }
  | { type: 'failed'; message: string }
  | { type: 'metrics'; id: number; metrics: ProcessMetrics }

/** Before the first restart of a process that ended, and before any later one. */
const BACK_OFF_MS = { first: 200, most: 10 * SECOND_MS }
/** A process that has run this long counts as stable. */
const STABLE_AFTER_MS = MINUTE_MS
const METRICS_MS = 2 * SECOND_MS

const BUILT = fileURLToPath(new URL('web-process.js', import.meta.url))
const SOURCE = fileURLToPath(new URL('web-process.ts', import.meta.url))

type Options = { count: number; place: WebPlace; isJson: boolean; log: Logger }

/**
 * Starts processes that serve HTTP on the port of this one: the kernel distributes the connections
 * among them. One that ends is restarted.
 */
export function startWebProcesses({ count, place, isJson, log }: Options): WebProcesses {
  const stopping = new AbortController()
  const numbers = Array.from({ length: count }, (_, index) => index + 2)
  const members = numbers.map((number) =>
    superviseProcess({ number, place, isJson, log, stop: stopping.signal }),
  )
  return {
    ready: Promise.all(members.map(({ ready }) => ready)),
    async readMetrics() {
      const read = await Promise.all(members.map((member) => member.readMetrics()))
      return read.filter((metrics) => metrics !== null)
    },
    async stop() {
      stopping.abort()
      await Promise.all(members.map(({ ended }) => ended))
    },
  }
}

type Member = {
  /** Resolves when it listens for the first time. */
  ready: Promise<void>
  /** Null while it is not running. */
  readMetrics(): Promise<ProcessMetrics | null>
  /** Resolves after it was stopped. */
  ended: Promise<void>
}

type MemberOptions = Omit<Options, 'count'> & { number: number; stop: AbortSignal }

function superviseProcess({ number, place, isJson, log, stop }: MemberOptions): Member {
  const first = Promise.withResolvers<void>()
  // A start that fails is reported by the one who waits for it.
  first.promise.catch(() => {})
  let child: ChildProcess | null = null
  let asked = 0

  async function runOnce(): Promise<void> {
    const current = fork(existsSync(BUILT) ? BUILT : SOURCE, compiledFolder(), {
      serialization: 'advanced',
      execArgv: process.execArgv,
    })
    child = current
    let message = ''
    current.on('message', (received: FromProcess) => {
      if (received.type === 'ready') first.resolve()
      if (received.type === 'failed') message = received.message
    })
    const ended = once(current, 'exit').catch((error: Error) => {
      message = error.message
      return [null, null]
    })
    send(current, { type: 'start', place, number, isJson })
    const end = () => void stopProcess(current, ended)
    stop.addEventListener('abort', end)
    const [code, signal] = (await ended) as [number | null, NodeJS.Signals | null]
    stop.removeEventListener('abort', end)
    child = null
    if (stop.aborted) return
    const reason = message || `it ended with ${signal ?? `exit code ${code}`}`
    first.reject(new Fault('unavailable', `Process ${number} did not start: ${reason}`))
    log.error(
      { webProcess: number, code, signal, reason },
      'a web process ended: starting it again',
    )
  }

  async function supervise(): Promise<void> {
    let wait = BACK_OFF_MS.first
    while (!stop.aborted) {
      const begun = performance.now()
      await runOnce()
      if (performance.now() - begun > STABLE_AFTER_MS) wait = BACK_OFF_MS.first
      await sleep(wait, undefined, { signal: stop }).catch(() => {})
      wait = Math.min(wait * 2, BACK_OFF_MS.most)
    }
  }

  async function readMetrics(): Promise<ProcessMetrics | null> {
    const current = child
    if (!current?.connected) return null
    const id = ++asked
    const answer = Promise.withResolvers<ProcessMetrics | null>()
    const onMessage = (received: FromProcess) => {
      if (received.type === 'metrics' && received.id === id) answer.resolve(received.metrics)
    }
    current.on('message', onMessage)
    send(current, { type: 'metrics', id })
    const timer = setTimeout(answer.resolve, METRICS_MS, null)
    return answer.promise.finally(() => {
      clearTimeout(timer)
      current.off('message', onMessage)
    })
  }

  return { ready: first.promise, readMetrics, ended: supervise() }
}

/** The argument that shares the compiled code of this process; none where it does not keep any. */
function compiledFolder(): string[] {
  const folder = getCompileCacheDir()
  // It is the subfolder of this version of Node.
  return folder === undefined ? [] : [dirname(folder)]
}

/** A process that has just ended cannot receive it, and its end is noticed anyway. */
function send(child: ChildProcess, message: ToProcess): void {
  if (child.connected) child.send(message, () => {})
}

/** Gives running requests their time, and a little more for closing. */
async function stopProcess(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  send(child, { type: 'stop' })
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_GRACE_MS + 5 * SECOND_MS)
  await ended
  clearTimeout(timer)
}
