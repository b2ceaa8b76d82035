import { useLocation } from '@tanstack/react-router'
import { useRef } from 'react'
import { Button } from '../ui/actions/button.tsx'
import { Icon } from '../ui/brand/icons.tsx'
import { ThemeSwitch } from '../ui/theme/theme-switch.tsx'
import { CurrentAccount } from './current-account.tsx'
import classes from './more-sheet.module.css'
import { MODULES, SETTINGS_PAGES } from './navigation.ts'
import { DocumentationLink, NavigationEntries } from './navigation-entries.tsx'
import { frame } from './messages.ts'

/** The last button of a phone’s bottom bar, and the sheet with the screens that the bar lacks. */
export function MoreSheet() {
  const sheet = useRef<HTMLDialogElement>(null)
  const close = () => sheet.current?.close()
  const path = useLocation({ select: ({ pathname }) => pathname })
  const isHere = !MODULES.some(({ isPrimary, to }) => isPrimary && path.startsWith(to))
  return (
    <>
      <button
        type="button"
        className={classes.button}
        data-current={isHere}
        onClick={() => sheet.current?.showModal()}
      >
        <Icon name="more" />
        {frame.more}
      </button>
      <dialog
        ref={sheet}
        className={classes.sheet}
        aria-label={frame.moreScreens}
        onClick={({ target, currentTarget }) => target === currentTarget && close()}
      >
        <div className={classes.content}>
          <div className={classes.head}>
            <CurrentAccount />
            <Button size="small" kind="quiet" onClick={close}>
              {frame.close}
            </Button>
          </div>
          <div className={classes.screens}>
            <NavigationEntries
              entries={MODULES.filter(({ isPrimary }) => !isPrimary)}
              onGo={close}
            />
            <NavigationEntries entries={SETTINGS_PAGES} onGo={close} />
          </div>
          <div className={classes.foot}>
            <DocumentationLink />
            <ThemeSwitch />
          </div>
        </div>
      </dialog>
    </>
  )
}
