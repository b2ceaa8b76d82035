import { useLocation } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { Button } from '../ui/actions/button.tsx'
import { Icon } from '../ui/brand/icons.tsx'
import { whenClosed } from '../ui/layout/when-closed.ts'
import { ThemeSwitch } from '../ui/theme/theme-switch.tsx'
import { CurrentAccount } from './current-account.tsx'
import classes from './more-sheet.module.css'
import { findEntry, MODULES, SETTINGS } from './navigation.ts'
import { DocumentationLinks, NavigationEntries } from './navigation-entries.tsx'
import { frame } from './messages.ts'

/** The last button of a phone’s bottom bar, and the sheet with the screens that the bar lacks. */
export function MoreSheet() {
  const sheet = useRef<HTMLDialogElement>(null)
  const [isOpen, setOpen] = useState(false)
  const close = () => sheet.current?.close()
  function open(): void {
    setOpen(true)
    sheet.current?.showModal()
  }
  const path = useLocation({ select: ({ pathname }) => pathname })
  const isHere = findEntry([...MODULES, SETTINGS], path)?.isPrimary !== true
  return (
    <>
      <button type="button" className={classes.button} data-current={isHere} onClick={open}>
        <Icon name="more" />
        {frame.more}
      </button>
      <dialog
        ref={sheet}
        className={classes.sheet}
        aria-label={frame.moreScreens}
        onClose={whenClosed(() => setOpen(false))}
        onClick={({ target, currentTarget }) => target === currentTarget && close()}
      >
        {isOpen && <Content onDone={close} />}
      </dialog>
    </>
  )
}

function Content({ onDone }: { onDone: () => void }) {
  return (
    <div className={classes.content}>
      <div className={classes.head}>
        <CurrentAccount />
        <Button size="small" kind="quiet" onClick={onDone}>
          {frame.close}
        </Button>
      </div>
      <div className={classes.screens}>
        <NavigationEntries entries={MODULES.filter(({ isPrimary }) => !isPrimary)} onGo={onDone} />
        <NavigationEntries entries={[SETTINGS]} onGo={onDone} />
      </div>
      <div className={classes.foot}>
        <DocumentationLinks />
        <ThemeSwitch />
      </div>
    </div>
  )
}
