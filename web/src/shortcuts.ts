import { useEffect, useEffectEvent } from 'react'
import { messages } from './messages.ts'

/**
 * The description of a shortcut and its action, which returns `false` when there was nothing to do.
 */
export type ShortcutAction = [description: string, run: () => unknown]

/** Actions by key, as the browser names it; `g h` is one key after the other. */
export type Shortcuts = Record<string, ShortcutAction>

type Layer = { title: string; isEverywhere: boolean; keys: () => Shortcuts }

/** Components with shortcuts; those of a screen take precedence over those of the frame. */
const layers = new Set<Layer>()

/**
 * Registers single-key shortcuts of a screen, such as `{ j: ['Next request', next] }`. They are
 * ignored while the user types, while a dialog is open, and with Ctrl, Alt or Cmd held.
 */
export function useShortcuts(
  keys: Shortcuts,
  title = messages.shortcutsOnThisScreen as string,
  isEverywhere = false,
): void {
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

/** The shortcuts that are active, those of the screen first. */
export function activeShortcuts(): { title: string; keys: Shortcuts }[] {
  const inOrder = [...layers].toSorted(
    (one, other) => Number(one.isEverywhere) - Number(other.isEverywhere),
  )
  return inOrder.map(({ title, keys }) => ({ title, keys: keys() }))
}

/** Milliseconds within which a second key belongs to the first. */
const SEQUENCE_MS = 1_500

let pending = { name: '', at: 0 }

function press(event: KeyboardEvent): void {
  if (isIgnored(event)) return
  const isSecond = pending.name !== '' && event.timeStamp - pending.at < SEQUENCE_MS
  const name = isSecond ? `${pending.name} ${event.key}` : event.key
  const now = activeShortcuts()
  const isDone = now.some(({ keys }) => name in keys && keys[name]?.[1]() !== false)
  const isPrefix =
    !isDone && now.some(({ keys }) => Object.keys(keys).some((each) => each.startsWith(`${name} `)))
  pending = { name: isPrefix ? name : '', at: event.timeStamp }
  if (isDone || isPrefix) event.preventDefault()
}

const TYPES_IN =
  'input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable], dialog'
const MODIFIERS = ['Shift', 'Control', 'Alt', 'Meta', 'CapsLock']

function isIgnored(event: KeyboardEvent): boolean {
  const isTyping = event.target instanceof Element && event.target.closest(TYPES_IN) !== null
  if (isTyping || event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented)
    return true
  return (
    MODIFIERS.includes(event.key) ||
    document.querySelector('dialog[open]') !== null ||
    areShortcutsOff()
  )
}

const OFF = 'portreeve-keys'

/**
 * Whether the user turned single-key shortcuts off, as users of voice input need to (WCAG 2.1.4).
 */
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
