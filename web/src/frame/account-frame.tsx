import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Wordmark } from '../ui/brand/logo.tsx'
import { ThemeSwitch } from '../ui/theme/theme-switch.tsx'
import { LostWorkspace } from '../workspaces/lost-workspace.tsx'
import { useSwitches } from '../workspace-choice.ts'
import { CommandPalette } from './palette/command-palette.tsx'
import { CurrentAccount } from './current-account.tsx'
import { useLoadLater } from './load-later.tsx'
import { MoreSheet } from './more-sheet.tsx'
import { MODULES, SETTINGS } from './navigation.ts'
import { DocumentationLinks, NavigationEntries } from './navigation-entries.tsx'
import { SettingsLayout } from './settings-layout.tsx'
import classes from './account-frame.module.css'
import { SkipLink } from './skip-link.tsx'
import { frame } from './messages.ts'

/**
 * The frame of screens behind the sign-in: navigation at the side, or at the bottom on a phone. It
 * is shown before the account is known, and stays. Its navigation restarts with every switch to
 * another workspace or account.
 */
export function AccountFrame({ children }: { children: ReactNode }) {
  useLoadLater()
  return (
    <div className={classes.frame}>
      <SkipLink />
      <div key={useSwitches()} className={classes.side}>
        <header className={classes.header}>
          <Link to="/home" className={classes.name}>
            <Wordmark />
          </Link>
          <div className={classes.account}>
            <CurrentAccount />
          </div>
        </header>
        <CommandPalette />
        <Navigation />
        <footer className={classes.foot}>
          <ThemeSwitch />
        </footer>
      </div>
      <main id="main" className={classes.main}>
        <LostWorkspace />
        <SettingsLayout>{children}</SettingsLayout>
      </main>
    </div>
  )
}

function Navigation() {
  return (
    <nav className={classes.navigation} aria-label={frame.mainNavigation}>
      <NavigationEntries entries={MODULES} />
      <MoreSheet />
      <div className={classes.beside}>
        <NavigationEntries entries={[SETTINGS]} />
        <DocumentationLinks />
      </div>
    </nav>
  )
}
