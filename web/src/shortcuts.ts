import { useEffect, useEffectEvent } from 'react'

/** What a key does, in words for the sheet that lists them; what answers `false` had nothing to do. */
export type ShortcutAction = [says: string, act: () => unknown]

/** By the key, as the browser names it; `g h` is one key after the other. */
export type Shortcuts = Record<string, ShortcutAction>

type Layer = { title: string; isEverywhere: boolean; keys: () => Shortcuts }

/** What is shown and has keys; a screen's own go before those that work everywhere. */
const layers = new Set<Layer>()

/**
 * Single keys that do something on this screen, such as `{ j: ['Next request', next] }`. They rest while somebody types, while
 * a dialog is open, and with Ctrl, Alt or Cmd held.
 */
export function useShortcuts(keys: Shortcuts, title = 'On this screen', isEverywhere = false): void {
  const current = useEffectEvent(() => keys)
  useEffect(() => {
    const layer: Layer = { title, isEverywhere, keys: () => current() }
    layers.add(layer)
    if (layers.size === 1) window.addEventListener('keydown', press)
    return () => {
      layers.delete(layer)
      if (layers.size === 0) window.removeEventListener('keydown', press)
    }
  }, [title, isEverywhere])
}

/** What works now, the screen's own first. */
export function activeShortcuts(): { title: string; keys: Shortcuts }[] {
  const inOrder = [...layers].toSorted((one, other) => Number(one.isEverywhere) - Number(other.isEverywhere))
  return inOrder.map(({ title, keys }) => ({ title, keys: keys() }))
}

/** Milliseconds within which a second key belongs to the first. */
const SEQUENCE_MS = 1_500

let begun = { name: '', at: 0 }

function press(event: KeyboardEvent): void {
  if (isIgnored(event)) return
  const isSecond = begun.name !== '' && event.timeStamp - begun.at < SEQUENCE_MS
  const name = isSecond ? `${begun.name} ${event.key}` : event.key
  const now = activeShortcuts()
  const isDone = now.some(({ keys }) => name in keys && keys[name]?.[1]() !== false)
  const isBeginning = !isDone && now.some(({ keys }) => Object.keys(keys).some((each) => each.startsWith(`${name} `)))
  begun = { name: isBeginning ? name : '', at: event.timeStamp }
  if (isDone || isBeginning) event.preventDefault()
}

const TYPES_IN = 'input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable], dialog'
const MODIFIERS = ['Shift', 'Control', 'Alt', 'Meta', 'CapsLock']

function isIgnored(event: KeyboardEvent): boolean {
  const isTyping = event.target instanceof Element && event.target.closest(TYPES_IN) !== null
  if (isTyping || event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return true
  return MODIFIERS.includes(event.key) || document.querySelector('dialog[open]') !== null || areShortcutsOff()
}

const OFF = 'portreeve-keys'

/** Whether somebody turned single keys off, because they speak to their computer or hit keys by accident (WCAG 2.1.4). */
export function areShortcutsOff(): boolean {
  try {
    return localStorage.getItem(OFF) === 'off'
  } catch {
    return false
  }
}

export function enableShortcuts(on: boolean): void {
  if (on) localStorage.removeItem(OFF)
  else localStorage.setItem(OFF, 'off')
}
