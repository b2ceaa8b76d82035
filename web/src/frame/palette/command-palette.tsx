import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { Dialog } from '../../ui/layout/dialog.tsx'
import { Icon } from '../../ui/brand/icons.tsx'
import { MODIFIER_KEY, Shortcut } from '../../ui/actions/shortcut.tsx'
import classes from './command-palette.module.css'
import { useShortcutSheet } from '../shortcut-sheet.tsx'
import { loadLater } from '../load-later.tsx'
import { PaletteField } from './palette-field.tsx'
import type { PaletteSearchProps } from './palette-search.tsx'
import { useFrameShortcuts } from '../use-frame-shortcuts.ts'
import { palette as messages } from '../messages.ts'

const PaletteSearch = loadLater(
  'the search',
  async () => (await import('./palette-search.tsx')).PaletteSearch,
  ({ typed }: PaletteSearchProps) => (
    <PaletteField
      onChange={({ currentTarget }) => (typed.current.text = currentTarget.value)}
      onKeyDown={({ key }) => (typed.current.isEntered = key === 'Enter')}
    />
  ),
)

/** The search button, its Ctrl-K or Cmd-K shortcut, and the shortcuts of every screen. */
export function CommandPalette() {
  const dialog = useRef<HTMLDialogElement>(null)
  /** The count is the key of each opening, so that its search starts empty. */
  const [opening, setOpening] = useState({ count: 0, isOpen: false })
  const typed = useRef({ text: '', isEntered: false })
  const { open: openSheet, sheet } = useShortcutSheet(useRef<HTMLDialogElement>(null))

  function openPalette(): void {
    if (document.querySelector('dialog[open]')) return
    typed.current = { text: '', isEntered: false }
    setOpening(({ count }) => ({ count: count + 1, isOpen: true }))
    dialog.current?.showModal()
  }
  const close = () => dialog.current?.close()
  useFrameShortcuts({ openPalette, openSheet })
  useCommandK(openPalette)

  return (
    <>
      <button type="button" className={classes.button} onClick={openPalette}>
        <Icon name="search" />
        {messages.open}
        <span className={classes.stroke} aria-hidden="true">
          <Shortcut keys={`${MODIFIER_KEY} K`} />
        </span>
      </button>
      <Dialog
        ref={dialog}
        label={messages.dialog}
        onClose={() => setOpening(({ count }) => ({ count, isOpen: false }))}
      >
        {opening.isOpen && <PaletteSearch key={opening.count} typed={typed} onDone={close} />}
      </Dialog>
      {sheet}
    </>
  )
}

/** Works while typing too, and when single-key shortcuts are off. */
function useCommandK(open: () => void): void {
  const press = useEffectEvent((event: KeyboardEvent) => {
    if (
      event.key.toLowerCase() !== 'k' ||
      !(event.ctrlKey || event.metaKey) ||
      event.shiftKey ||
      event.altKey
    )
      return
    event.preventDefault()
    open()
  })
  useEffect(() => {
    const listen = (event: KeyboardEvent) => press(event)
    window.addEventListener('keydown', listen)
    return () => window.removeEventListener('keydown', listen)
  }, [])
}
