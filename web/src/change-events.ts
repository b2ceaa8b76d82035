import type { Static } from 'typebox'
import { inService } from './base-path.ts'
import type { Changed } from '../../src/http/shapes.ts'
import { oldestResponseAt } from './early-responses.ts'
import { checkReachable, watchReachability } from './reachability.ts'

/** State of the event stream. */
export type StreamState = 'connecting' | 'live' | 'broken'

export type Change = Static<typeof Changed>

/** @param change null when anything may have changed */
export type ChangeHandler = (change: Change | null) => void

type Following = {
  accountId: string
  workspaceId: string
  onChange: ChangeHandler
  onLink: (link: StreamState) => void
  /** Called when the service rejects the stream. */
  onRejected: () => void
}

/** What the tabs of a browser tell one another. */
type Message =
  | { kind: 'link'; link: StreamState }
  | { kind: 'change'; change: Change | null }
  | { kind: 'rejected' }
  | { kind: 'joined'; tab: string }
  /** For a tab that has just joined: the stream is open, and this has changed lately. */
  | { kind: 'recent'; tab: string; changes: (Change | null)[] }

/** Time until a rejected stream is opened again. The browser itself reconnects a broken stream. */
const RETRY_MS = 5_000

/** Time after which a hidden tab stops following. It refreshes everything when it is shown again. */
const HIDDEN_TAB_MS = 60_000

/** A stream, and what a tab that joins gets, begin with the changes of the last five seconds. */
const RECENT_MS = 5_000

/** If the shown data may be older than this when the stream opens, everything is refreshed. */
const REPLAY_MS = 4_000

/**
 * Follows the changes of a workspace while the tab is visible. All tabs of the browser share one
 * stream, because a browser has six connections to an origin over HTTP/1.1: the visible tab that
 * holds a lock opens the stream and passes its events on. The browser passes the lock to the next
 * visible tab when the holder is hidden, leaves or crashes. A tab that was hidden keeps its stream
 * until that of the next holder is open. Browsers have locks only on HTTPS and localhost: elsewhere,
 * each tab has a stream of its own, and closes it as soon as it is hidden.
 * @returns a function that ends it
 */
export function followChanges(following: Following): () => void {
  const { accountId, workspaceId, onChange, onLink, onRejected } = following
  const name = `portreeve-changes:${accountId}:${workspaceId}`
  const canShare = 'locks' in navigator
  const tab = `${performance.timeOrigin}:${Math.random()}`
  const recent: { change: Change | null; at: number }[] = []
  let link: StreamState = 'connecting'
  /** Since when changes may have been missed; null while the stream is open. */
  let gapSince: number | null = oldestResponseAt()
  let channel: BroadcastChannel | null = null
  let lock: AbortController | null = null
  let isHolder = false
  let source: EventSource | null = null
  let timer: ReturnType<typeof setTimeout> | undefined

  function open(): void {
    // A stream that was kept while the tab was hidden.
    if (isOpen()) return
    source?.close()
    share({ kind: 'link', link: 'connecting' })
    const opened = new EventSource(inService(`/api/v1/events?workspace=${workspaceId}`))
    opened.addEventListener('open', () => share({ kind: 'link', link: 'live' }))
    opened.addEventListener('error', () => {
      share({ kind: 'link', link: 'broken' })
      if (!isHolder) return closeStream()
      if (opened.readyState !== EventSource.CLOSED) return
      share({ kind: 'rejected' })
      schedule(RETRY_MS, open)
    })
    opened.addEventListener('changed', ({ data }: MessageEvent<string>) =>
      share({ kind: 'change', change: JSON.parse(data) as Change }),
    )
    opened.addEventListener('missed', () => share({ kind: 'change', change: null }))
    source = opened
  }

  const isOpen = () => source?.readyState === EventSource.OPEN

  function closeStream(): void {
    source?.close()
    source = null
  }

  function share(message: Message): void {
    send(message)
    receive(message)
  }

  function send(message: Message): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
    channel?.postMessage(message)
  }

  function receive(message: Message): void {
    if (message.kind === 'link') return setLink(message.link)
    if (message.kind === 'rejected') return onRejected()
    if (message.kind === 'joined') return sendRecent(message.tab)
    if (message.kind === 'change') {
      recent.push({ change: message.change, at: performance.now() })
      dropOld()
      return onChange(message.change)
    }
    if (message.tab !== tab) return
    setLink('live')
    message.changes.forEach(onChange)
  }

  function sendRecent(joined: string): void {
    if (!isOpen()) return
    dropOld()
    send({ kind: 'recent', tab: joined, changes: recent.map(({ change }) => change) })
  }

  function dropOld(): void {
    const since = performance.now() - RECENT_MS
    while (recent[0] !== undefined && recent[0].at < since) recent.shift()
  }

  function setLink(now: StreamState): void {
    if (now !== 'live') gapSince ??= performance.now()
    else {
      if (gapSince !== null && performance.now() - gapSince > REPLAY_MS) onChange(null)
      gapSince = null
    }
    if (now === 'broken') void checkReachable()
    // When the next tab takes over, it is live again at once.
    if (now === 'connecting' && link === 'live') return
    link = now
    onLink(now)
  }

  function requestLock(): void {
    if (lock) return
    lock = new AbortController()
    const { signal } = lock
    const hold = () => {
      if (signal.aborted) return undefined
      isHolder = true
      open()
      return new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve())
      })
    }
    if (!canShare) void hold()
    // It is rejected when the tab no longer waits for it.
    else navigator.locks.request(name, { signal }, hold).catch(() => undefined)
  }

  function releaseLock(): void {
    isHolder = false
    lock?.abort()
    lock = null
  }

  function join(): void {
    clearTimeout(timer)
    if (canShare && !channel) {
      channel = new BroadcastChannel(name)
      channel.addEventListener('message', ({ data }: MessageEvent<Message>) => onMessage(data))
      send({ kind: 'joined', tab })
    }
    if (document.hidden) hide()
    else requestLock()
  }

  function onMessage(message: Message): void {
    if (message.kind === 'link') {
      // A tab that was hidden has lost its stream, which this one has replaced.
      if (isHolder && isOpen()) return send({ kind: 'link', link: 'live' })
      if (message.link === 'live') closeStream()
    }
    receive(message)
  }

  function hide(): void {
    releaseLock()
    if (canShare) schedule(HIDDEN_TAB_MS, leave)
    else leave()
  }

  function leave(): void {
    clearTimeout(timer)
    releaseLock()
    if (source) send({ kind: 'link', link: 'connecting' })
    closeStream()
    channel?.close()
    channel = null
    gapSince ??= performance.now()
  }

  function schedule(milliseconds: number, run: () => void): void {
    clearTimeout(timer)
    timer = setTimeout(run, milliseconds)
  }

  const stopWatching = watchReachability((isReachable) => {
    // The browser’s own pause before it reconnects grows with every failure.
    if (isReachable && isHolder) open()
  })
  const listeners = new AbortController()
  const { signal } = listeners
  document.addEventListener('visibilitychange', () => (document.hidden ? hide() : join()), {
    signal,
  })
  window.addEventListener('pageshow', ({ persisted }) => persisted && join(), { signal })
  // A page that is kept for the way back, or frozen, would keep the lock.
  window.addEventListener('pagehide', leave, { signal })
  document.addEventListener('freeze', leave, { signal })
  document.addEventListener('resume', join, { signal })
  join()
  return () => {
    stopWatching()
    listeners.abort()
    leave()
  }
}
