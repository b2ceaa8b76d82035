import { useEffect, useEffectEvent, useState } from 'react'

/** Whether a stream of events flows. */
export type Link = 'connecting' | 'live' | 'broken'

type Handlers = Record<string, (data: unknown) => void>

/** Milliseconds until a stream that the service refused is asked for again; a broken one the browser asks for by itself. */
const AGAIN = 5_000

/**
 * Follows server-sent events for as long as the component is shown.
 * @param path null for nothing to follow
 * @param names the events that are listened to
 * @param on what to do with each, by its name; `again` is called when events may have been missed
 */
export function useEvents(path: string | null, names: readonly string[], on: Handlers): Link {
  const [link, setLink] = useState<Link>('connecting')
  const hear = useEffectEvent((name: string, data: unknown) => on[name]?.(data))
  const key = names.join(' ')
  useEffect(() => {
    if (path === null) return undefined
    setLink('connecting')
    return follow(path, key.split(' '), hear, setLink)
  }, [path, key])
  return link
}

/** A browser has six connections for all its tabs: one that nobody sees gives its own back after so many milliseconds. */
const UNSEEN = 60_000

function follow(
  path: string,
  names: string[],
  hear: (name: string, data: unknown) => void,
  setLink: (link: Link) => void,
): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let source: EventSource | null = open(false)

  function open(isAgain: boolean): EventSource {
    const opened = new EventSource(path)
    opened.addEventListener('open', () => {
      setLink('live')
      if (isAgain) hear('again', null)
    })
    opened.addEventListener('error', () => {
      setLink('broken')
      if (opened.readyState === EventSource.CLOSED) later(AGAIN, () => (source = open(true)))
    })
    for (const name of names) {
      opened.addEventListener(name, (event) => hear(name, JSON.parse((event as MessageEvent<string>).data)))
    }
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
    if (document.hidden) return later(UNSEEN, rest)
    clearTimeout(timer)
    if (source === null || source.readyState === EventSource.CLOSED) source = open(true)
  }

  document.addEventListener('visibilitychange', look)
  return () => {
    document.removeEventListener('visibilitychange', look)
    clearTimeout(timer)
    source?.close()
  }
}
