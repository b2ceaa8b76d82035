import { useRouterState } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import { EntryLink } from './entry-link.tsx'
import { findEntry, isSettingsPath, SETTINGS_GROUPS } from './navigation.ts'
import classes from './settings-layout.module.css'
import { settings as messages } from './messages.ts'
import { useVisibleEntries } from './use-visible-entries.ts'

/** The side menu beside a page of the settings; other screens have all of the width. */
export function SettingsLayout({ children }: { children: ReactNode }) {
  // The path of what is shown, which changes after the location does.
  const path = useRouterState({ select: ({ matches }) => matches.at(-1)?.pathname ?? '' })
  const isSettings = isSettingsPath(path)
  return (
    <div className={classes.layout} data-settings={isSettings}>
      {isSettings && <SettingsMenu path={path} />}
      <div className={classes.content}>{children}</div>
    </div>
  )
}

function SettingsMenu({ path }: { path: string }) {
  // Where it is above the page, it is folded.
  const [isOpen, setOpen] = useState(false)
  const entries = useVisibleEntries(SETTINGS_GROUPS.flatMap((group) => group.entries))
  const current = findEntry(entries, path)
  const groups = SETTINGS_GROUPS.map(({ title, entries: all }) => ({
    title,
    entries: all.filter((entry) => entries.includes(entry)),
  })).filter((group) => group.entries.length > 0)
  return (
    <nav className={classes.menu} aria-label={messages.label}>
      <button
        type="button"
        className={classes.toggle}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {messages.all}
      </button>
      <div className={classes.list} data-open={isOpen}>
        {groups.map(({ title, entries: shown }) => (
          <div key={title}>
            <p className={classes.group}>{title}</p>
            <ul>
              {shown.map((entry) => (
                <li key={entry.to}>
                  <EntryLink
                    to={entry.to}
                    className={classes.entry}
                    isCurrent={entry === current}
                    onClick={() => setOpen(false)}
                  >
                    {entry.label}
                  </EntryLink>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </div>
    </nav>
  )
}
