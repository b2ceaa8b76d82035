import { useEffect, useRef, useState } from 'react'

/** Characters of a response that are shown; a stream stops there. */
export const MAX_SHOWN_CHARACTERS = 200_000

export type TrialResult = {
  status: number
  /** Until the response began. */
  milliseconds: number
  bytes: number
  type: string
  /** Null for a body that is not text. */
  text: string | null
  isComplete: boolean
  isTruncated: boolean
}

export type Trial =
  | { state: 'idle' | 'waiting' | 'failed' }
  | { state: 'answered'; result: TrialResult }

const isText = (type: string) => /^text\/|json|xml|^$/.test(type)

/** Sends one request at a time and reads its response as it arrives. */
export function useTrial(): {
  trial: Trial
  send: (url: string, init: RequestInit) => void
  stop: () => void
} {
  const [trial, setTrial] = useState<Trial>({ state: 'idle' })
  const current = useRef<AbortController | null>(null)
  const stop = () => current.current?.abort()
  // A stream must not go on when another operation is opened.
  useEffect(() => () => current.current?.abort(), [])

  async function send(url: string, init: RequestInit): Promise<void> {
    stop()
    const abort = new AbortController()
    current.current = abort
    setTrial({ state: 'waiting' })
    let last: TrialResult | null = null
    const show = (result: TrialResult) => {
      last = result
      if (current.current === abort) setTrial({ state: 'answered', result })
    }
    try {
      await request(url, { ...init, signal: abort.signal }, show, stop)
    } catch {
      if (current.current !== abort) return
      const shown = last as TrialResult | null
      if (shown) setTrial({ state: 'answered', result: { ...shown, isComplete: true } })
      else setTrial({ state: abort.signal.aborted ? 'idle' : 'failed' })
    }
  }
  return { trial, send: (url, init) => void send(url, init), stop }
}

async function request(
  url: string,
  init: RequestInit,
  show: (result: TrialResult) => void,
  stop: () => void,
): Promise<void> {
  const began = performance.now()
  const response = await fetch(url, init)
  const type = response.headers.get('content-type') ?? ''
  const result: TrialResult = {
    status: response.status,
    milliseconds: Math.round(performance.now() - began),
    bytes: 0,
    type,
    text: isText(type) ? '' : null,
    isComplete: false,
    isTruncated: false,
  }
  show({ ...result })
  const decoder = new TextDecoder()
  const reader = response.body?.getReader()
  for (let part = await reader?.read(); part?.value; part = await reader?.read()) {
    result.bytes += part.value.byteLength
    if (result.text !== null) result.text += decoder.decode(part.value, { stream: true })
    if ((result.text?.length ?? 0) > MAX_SHOWN_CHARACTERS) {
      result.text = result.text?.slice(0, MAX_SHOWN_CHARACTERS) ?? null
      show({ ...result, isComplete: true, isTruncated: true })
      stop()
      return
    }
    show({ ...result })
  }
  show({ ...result, isComplete: true })
}
