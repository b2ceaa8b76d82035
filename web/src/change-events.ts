import type { Static } from 'typebox'
import type { Changed } from '../../src/http/shapes.ts'
import { oldestResponseAt } from './early-responses.ts'
import { inWorkspace } from './workspace-choice.ts'
import { checkReachable, watchReachability } from './reachability.ts'

/** State of the event stream. */
export type StreamState = 'connecting' | 'live' | 'broken'

export type Change = Static<typeof Changed>

/** @param change null when anything may have changed */
export type ChangeHandler = (change: Change | null) => void

type Following = {
  onChange: ChangeHandler
  onLink: (link: StreamState) => void
  /** Called when the service rejects the stream. */
  onRejected: () => void
}

const PATH = '/api/v1/events'

/** Time until a rejected stream is opened again. The browser itself reconnects a broken stream. */
const RETRY_MS = 5_000

/**
 * A browser has six connections for all its tabs, so a hidden tab closes its stream after this
 * time.
 */
const HIDDEN_TAB_MS = 60_000

/**
 * A stream begins with the changes of the last five seconds. If it opened later than this after the
 * first response, everything is refreshed.
 */
const REPLAY_MS = 4_000

/**
 * Follows the changes of the account while the tab is visible. A tab has one stream.
 * @returns a function that ends it
 */
export function followChanges({ onChange, onLink, onRejected }: Following): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let startedAt = oldestResponseAt()
  let source: EventSource | null = open()

  function open(): EventSource {
    const opened = new EventSource(inWorkspace(PATH))
    opened.addEventListener('open', () => {
      onLink('live')
      if (performance.now() - startedAt > REPLAY_MS) onChange(null)
      startedAt = -Infinity
    })
    opened.addEventListener('error', () => {
      onLink('broken')
      void checkReachable()
      if (opened.readyState !== EventSource.CLOSED) return
      onRejected()
      schedule(RETRY_MS, () => (source = open()))
    })
    opened.addEventListener('changed', ({ data }: MessageEvent<string>) =>
      onChange(JSON.parse(data) as Change),
    )
    opened.addEventListener('missed', () => onChange(null))
    return opened
  }
  function schedule(milliseconds: number, run: () => void): void {
    clearTimeout(timer)
    timer = setTimeout(run, milliseconds)
  }
  function closeStream(): void {
    source?.close()
    source = null
  }
  function onVisibilityChange(): void {
    if (document.hidden) return schedule(HIDDEN_TAB_MS, closeStream)
    clearTimeout(timer)
    if (source === null || source.readyState === EventSource.CLOSED) source = open()
  }

  /** The browser’s own pause before it reconnects grows with every failure. */
  function reopen(): void {
    if (source === null || source.readyState === EventSource.OPEN) return
    clearTimeout(timer)
    source.close()
    source = open()
  }

  document.addEventListener('visibilitychange', onVisibilityChange)
  const stopWatching = watchReachability((isReachable) => isReachable && reopen())
  return () => {
    stopWatching()
    document.removeEventListener('visibilitychange', onVisibilityChange)
    clearTimeout(timer)
    source?.close()
  }
}
