import { useState, type RefObject } from 'react'
import { activeShortcuts } from '../shortcuts.ts'
import { Button } from '../ui/actions/button.tsx'
import { Dialog } from '../ui/layout/dialog.tsx'
import { MODIFIER_KEY, Shortcut } from '../ui/actions/shortcut.tsx'
import classes from './shortcut-sheet.module.css'

type Part = { title: string; rows: [keys: string, says: string][] }

/** The keys that work where it was opened. */
export function useShortcutSheet(dialog: RefObject<HTMLDialogElement | null>) {
  const [parts, setParts] = useState<Part[]>([])
  function open(): void {
    const now = activeShortcuts().map(({ title, keys }) => ({ title, rows: Object.entries(keys).map(rowOf) }))
    setParts([...now.filter(({ rows }) => rows.length > 0), ALWAYS])
    dialog.current?.showModal()
  }
  return { open, sheet: <ShortcutSheet dialog={dialog} parts={parts} /> }
}

const rowOf = ([keys, [says]]: [string, [string, unknown]]): Part['rows'][number] => [keys, says]

/** What works also for those who turned single keys off. */
const ALWAYS: Part = {
  title: 'Always',
  rows: [
    [`${MODIFIER_KEY} K`, 'Find a screen, check an address'],
    ['Tab', 'The next link, button or field'],
    ['Esc', 'Close what is open'],
  ],
}

function ShortcutSheet({ dialog, parts }: { dialog: RefObject<HTMLDialogElement | null>; parts: Part[] }) {
  return (
    <Dialog ref={dialog} label="Keys">
      <div className={classes.sheet}>
        <div className={classes.head}>
          <h2>Keys</h2>
          <Button size="small" kind="quiet" onClick={() => dialog.current?.close()}>
            Close
          </Button>
        </div>
        {parts.map(({ title, rows }) => (
          <section key={title} className={classes.part}>
            <h3>{title}</h3>
            <dl>
              {rows.map(([keys, says]) => (
                <div key={keys}>
                  <dt>
                    <Shortcut keys={keys} />
                  </dt>
                  <dd>{says}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  )
}
