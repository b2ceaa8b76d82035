import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useLocation } from '@tanstack/react-router'
import { useRef } from 'react'
import { PasswordPrompt } from '../account/password-prompt.tsx'
import { useLiveTab } from '../live-updates.ts'
import { accountQuery } from '../queries.ts'
import { Icon } from '../ui/brand/icons.tsx'
import { Wordmark } from '../ui/brand/logo.tsx'
import { ThemeSwitch } from '../ui/theme/theme-switch.tsx'
import { CommandPalette } from './palette/command-palette.tsx'
import { MODULES, SETTINGS_PAGES, type NavigationEntry } from './navigation.ts'
import classes from './account-frame.module.css'
import { SkipLink } from './skip-link.tsx'
import { useVisibleEntries } from './use-visible-entries.ts'
import { frame } from './messages.ts'

/** The frame of screens behind the sign-in: navigation at the side, or at the bottom on a phone. */
export function AccountFrame() {
  useLiveTab()
  return (
    <div className={classes.frame}>
      <SkipLink />
      <div className={classes.side}>
        <header className={classes.header}>
          <Link to="/home" className={classes.name}>
            <Wordmark />
          </Link>
        </header>
        <CommandPalette />
        <Navigation />
        <footer className={classes.foot}>
          <Person />
          <ThemeSwitch />
        </footer>
      </div>
      <main id="main" className={classes.main}>
        <Outlet />
      </main>
      <PasswordPrompt />
    </div>
  )
}

function Navigation() {
  return (
    <nav className={classes.navigation} aria-label={frame.mainNavigation}>
      <Entries entries={MODULES} />
      <More />
      <div className={classes.beside}>
        <Entries entries={SETTINGS_PAGES} />
        <Documentation />
      </div>
    </nav>
  )
}

function Entries({ entries, onGo }: { entries: NavigationEntry[]; onGo?: () => void }) {
  return (
    <ul>
      {useVisibleEntries(entries).map(({ to, label, icon, isPrimary = false }) => (
        <li key={to} data-near={isPrimary}>
          <Link to={to} className={classes.entry} onClick={onGo}>
            <Icon name={icon} />
            {label}
          </Link>
        </li>
      ))}
    </ul>
  )
}

function Documentation() {
  return (
    <a href="/docs" className={classes.entry}>
      <Icon name="book" />
      {frame.documentation}
    </a>
  )
}

/** On a phone: the screens that do not fit in the bottom bar. */
function More() {
  const sheet = useRef<HTMLDialogElement>(null)
  const close = () => sheet.current?.close()
  const path = useLocation({ select: ({ pathname }) => pathname })
  const isHere = !MODULES.some(({ isPrimary, to }) => isPrimary && path.startsWith(to))
  return (
    <>
      <button
        type="button"
        className={`${classes.entry} ${classes.more}`}
        data-current={isHere}
        onClick={() => sheet.current?.showModal()}
      >
        <Icon name="more" />
        {frame.more}
      </button>
      <dialog ref={sheet} className={classes.sheet} aria-label={frame.moreScreens} onClick={close}>
        <Entries entries={MODULES.filter(({ isPrimary }) => !isPrimary)} onGo={close} />
        <Entries entries={SETTINGS_PAGES} onGo={close} />
        <Documentation />
        <button type="button" className={classes.entry} onClick={close}>
          <Icon name="bad" />
          {frame.close}
        </button>
      </dialog>
    </>
  )
}

function Person() {
  const { data: account } = useQuery(accountQuery)
  if (!account) return null
  return (
    <p className={classes.person} title={account.email}>
      {account.name && <strong>{account.name}</strong>}
      <span>{account.email}</span>
    </p>
  )
}
