import { useState, type RefObject } from 'react'
import { activeShortcuts } from '../shortcuts.ts'
import { Button } from '../ui/actions/button.tsx'
import { Dialog } from '../ui/layout/dialog.tsx'
import { MODIFIER_KEY, Shortcut } from '../ui/actions/shortcut.tsx'
import classes from './shortcut-sheet.module.css'
import { shortcuts as messages } from './messages.ts'

type Part = { title: string; rows: [keys: string, description: string][] }

/** A dialog that lists the shortcuts of the current screen. */
export function useShortcutSheet(dialog: RefObject<HTMLDialogElement | null>) {
  const [parts, setParts] = useState<Part[]>([])
  function open(): void {
    const now = activeShortcuts().map(({ title, keys }) => ({
      title,
      rows: Object.entries(keys).map(rowOf),
    }))
    setParts([...now.filter(({ rows }) => rows.length > 0), ALWAYS])
    dialog.current?.showModal()
  }
  return { open, sheet: <ShortcutSheet dialog={dialog} parts={parts} /> }
}

const rowOf = ([keys, [description]]: [string, [string, unknown]]): Part['rows'][number] => [
  keys,
  description,
]

/** These work even when single-key shortcuts are off. */
const ALWAYS: Part = {
  title: messages.always,
  rows: [
    [`${MODIFIER_KEY} K`, messages.search],
    ['Tab', messages.tab],
    ['Esc', messages.escape],
  ],
}

function ShortcutSheet({
  dialog,
  parts,
}: {
  dialog: RefObject<HTMLDialogElement | null>
  parts: Part[]
}) {
  return (
    <Dialog ref={dialog} label={messages.title}>
      <div className={classes.sheet}>
        <div className={classes.head}>
          <h2>{messages.title}</h2>
          <Button size="small" kind="quiet" onClick={() => dialog.current?.close()}>
            {messages.close}
          </Button>
        </div>
        {parts.map(({ title, rows }) => (
          <section key={title} className={classes.part}>
            <h3>{title}</h3>
            <dl>
              {rows.map(([keys, description]) => (
                <div key={keys}>
                  <dt>
                    <Shortcut keys={keys} />
                  </dt>
                  <dd>{description}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  )
}
