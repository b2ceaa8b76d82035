import { useSyncExternalStore } from 'react'

/** A short message in a corner of the window. */
export type Toast = {
  key: number
  text: string
  isProblem?: boolean
  action?: { label: string; run: () => void }
  /** Milliseconds it is shown; without them, until it is closed. */
  lastsMs?: number
  /** Called when its time is over; not when it was closed or its action was run. */
  onExpire?: () => void
}

let shown: Toast[] = []
let lastKey = 0
const watchers = new Set<() => void>()

function update(now: Toast[]): void {
  shown = now
  watchers.forEach((watcher) => watcher())
}

/** @returns a function that closes the toast */
export function showToast(toast: Omit<Toast, 'key'>): () => void {
  const key = ++lastKey
  update([...shown, { ...toast, key }])
  return () => closeToast(key)
}

export function closeToast(key: number): void {
  update(shown.filter((toast) => toast.key !== key))
}

export function useToasts(): Toast[] {
  return useSyncExternalStore(watch, () => shown)
}

function watch(watcher: () => void): () => void {
  watchers.add(watcher)
  return () => void watchers.delete(watcher)
}
