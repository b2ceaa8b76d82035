import { useSyncExternalStore } from 'react'
import { BASE_PATH, inService } from './base-path.ts'

const KEY = `portreeve-workspace${BASE_PATH}`
const PARAMETER = 'workspace'

let chosen = readChoice()
/** Counts the switches of this tab: everything below the frame starts anew with each. */
let switches = 0
let choices = 0
let lostAt = 0
const watchers = new Set<() => void>()

/** The workspace of this tab; null for the first one of the account. */
export function chosenWorkspace(): string | null {
  return chosen
}

/**
 * Chooses the workspace of this tab, which new tabs begin with. Other open tabs keep theirs. Call
 * `announceSwitch` once the cached data of the former workspace is gone.
 */
export function chooseWorkspace(id: string | null): void {
  chosen = id
  choices++
  try {
    for (const storage of [sessionStorage, localStorage]) {
      if (id === null) storage.removeItem(KEY)
      else storage.setItem(KEY, id)
    }
  } catch {
    // Without storage, the choice lasts until the page is left.
  }
}

/** The number of choices so far: an account in another workspace without one lost the former. */
export function choiceCount(): number {
  return choices
}

export function announceSwitch(): void {
  switches++
  announce()
}

/**
 * Returns to the first workspace, because the account lost the chosen one. Does nothing when the
 * choice changed since the request was sent.
 */
export function loseWorkspace(id: string): void {
  if (id === chosen) returnToFirst()
}

/** Forgets a workspace that the account lost, and lets the frame open the first one and say so. */
export function returnToFirst(): void {
  chooseWorkspace(null)
  lostAt = Date.now()
  announce()
}

/** Whether to tell that the chosen workspace was lost; 0 or the time when that happened. */
export const useLostWorkspace = () => useSyncExternalStore(watch, () => lostAt)

export function dismissLostWorkspace(): void {
  lostAt = 0
  announce()
}

/** Changes with every switch of the workspace. */
export const useSwitches = () => useSyncExternalStore(watch, () => switches)

/** The URL of a path of the API, with the workspace, for what the browser opens by itself: downloads. */
export function inWorkspace(path: string): string {
  const url = inService(path)
  return chosen === null ? url : `${url}${path.includes('?') ? '&' : '?'}${PARAMETER}=${chosen}`
}

function announce(): void {
  watchers.forEach((watcher) => watcher())
}

function watch(watcher: () => void): () => void {
  watchers.add(watcher)
  return () => void watchers.delete(watcher)
}

/** The workspace in the URL of a link, or that of this tab, or the last one chosen in any tab. */
function readChoice(): string | null {
  try {
    const linked = new URLSearchParams(window.location.search).get(PARAMETER)
    const id = linked ?? sessionStorage.getItem(KEY) ?? localStorage.getItem(KEY)
    if (id !== null) sessionStorage.setItem(KEY, id)
    return id
  } catch {
    return null
  }
}
