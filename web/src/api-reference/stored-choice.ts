import { useSyncExternalStore } from 'react'

const listeners = new Set<() => void>()
/** Choices of this page view, for browsers that store nothing. */
const current = new Map<string, string>()

function read(key: string): string | null {
  const known = current.get(key)
  if (known !== undefined) return known
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}

function write(key: string, value: string): void {
  current.set(key, value)
  try {
    localStorage.setItem(key, value)
  } catch {
    // Storage is switched off: the choice lasts until the next reload.
  }
  listeners.forEach((listener) => listener())
}

/** One of a few values, which this browser remembers under `key` and all components share. */
export function useStoredChoice<T extends string>(
  key: string,
  choices: readonly T[],
  initial: T,
): [T, (value: T) => void] {
  const stored = useSyncExternalStore(subscribe, () => read(key))
  const value = choices.find((choice) => choice === stored) ?? initial
  return [value, (next) => write(key, next)]
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
