import type { Static } from 'typebox'
import type { Changed } from '../../src/http/shapes.ts'

/** Whether a stream of events flows. */
export type StreamState = 'connecting' | 'live' | 'broken'

export type Change = Static<typeof Changed>

/** @param change null when anything may have changed */
export type ChangeHandler = (change: Change | null) => void

type Following = {
  hear: ChangeHandler
  onLink: (link: StreamState) => void
  /** The service was reached and did not let us in. */
  onRefused: () => void
}

const PATH = '/api/v1/events'

/** Milliseconds until a stream that the service refused is asked for again; a broken one the browser asks for by itself. */
const RETRY_MS = 5_000

/** A browser has six connections for all its tabs: one that nobody sees gives its own back after so many milliseconds. */
const HIDDEN_TAB_MS = 60_000

/** A stream begins with what changed in the last five seconds: who waited longer for it must look at everything. */
const REPLAY_MS = 4_000

/**
 * Follows what changes in the account, while somebody sees this tab: its one stream.
 * @returns how to end it
 */
export function followChanges({ hear, onLink, onRefused }: Following): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let begun = performance.now()
  let source: EventSource | null = open()

  function open(): EventSource {
    const opened = new EventSource(PATH)
    opened.addEventListener('open', () => {
      onLink('live')
      if (performance.now() - begun > REPLAY_MS) hear(null)
      begun = -Infinity
    })
    opened.addEventListener('error', () => {
      onLink('broken')
      if (opened.readyState !== EventSource.CLOSED) return
      onRefused()
      later(RETRY_MS, () => (source = open()))
    })
    opened.addEventListener('changed', ({ data }: MessageEvent<string>) => hear(JSON.parse(data) as Change))
    opened.addEventListener('missed', () => hear(null))
    return opened
  }
  function later(milliseconds: number, act: () => void): void {
    clearTimeout(timer)
    timer = setTimeout(act, milliseconds)
  }
  function rest(): void {
    source?.close()
    source = null
  }
  function look(): void {
    if (document.hidden) return later(HIDDEN_TAB_MS, rest)
    clearTimeout(timer)
    if (source === null || source.readyState === EventSource.CLOSED) source = open()
  }

  document.addEventListener('visibilitychange', look)
  return () => {
    document.removeEventListener('visibilitychange', look)
    clearTimeout(timer)
    source?.close()
  }
}
