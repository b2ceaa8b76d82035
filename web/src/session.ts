import { useSyncExternalStore } from 'react'
import { BASE_PATH } from './base-path.ts'
import { createPrompt } from './prompt.ts'

/** Signs the same account in again, over the screen, when its session has ended. */
export const signInPrompt = createPrompt()

const watchers = new Set<() => void>()
let isExpired = false

/** Records that the session has ended, or that a new one has begun. */
export function setSessionExpired(now: boolean): void {
  if (now === isExpired) return
  isExpired = now
  watchers.forEach((watcher) => watcher())
}

/** Whether the session of the account on the screen has ended. */
export function useIsSessionExpired(): boolean {
  return useSyncExternalStore(watch, () => isExpired)
}

function watch(watcher: () => void): () => void {
  watchers.add(watcher)
  return () => void watchers.delete(watcher)
}

/** What other tabs of this browser need to know. */
export type SessionNews = 'signed-in' | 'signed-out'

/** One channel for both directions: a tab does not hear itself. */
let channel: BroadcastChannel | null = null
const openChannel = () => (channel ??= new BroadcastChannel(`portreeve-session${BASE_PATH}`))

export function announceSession(news: SessionNews): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
  openChannel().postMessage(news)
}

/** Calls the handler when another tab signs in or out. @returns a function that ends it */
export function onSessionNews(handler: (news: SessionNews) => void): () => void {
  const listen = ({ data }: MessageEvent<SessionNews>) => handler(data)
  const opened = openChannel()
  opened.addEventListener('message', listen)
  return () => opened.removeEventListener('message', listen)
}
