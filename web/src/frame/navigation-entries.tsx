import { Link, useLocation } from '@tanstack/react-router'
import { inService } from '../base-path.ts'
import { Icon } from '../ui/brand/icons.tsx'
import type { NavigationEntry } from './navigation.ts'
import classes from './navigation-entries.module.css'
import { guidePageOf } from './guide-page.ts'
import { useVisibleEntries } from './use-visible-entries.ts'
import { frame } from './messages.ts'

type EntriesProps = { entries: NavigationEntry[]; onGo?: () => void }

/** Links to screens, for the sidebar, the bottom bar and the sheet. */
export function NavigationEntries({ entries, onGo }: EntriesProps) {
  return (
    <ul className={classes.list}>
      {useVisibleEntries(entries).map(({ to, label, icon, isPrimary = false }) => (
        <li key={to} data-primary={isPrimary}>
          <Link to={to} className={classes.entry} onClick={onGo}>
            <Icon name={icon} />
            {label}
          </Link>
        </li>
      ))}
    </ul>
  )
}

/** Links to the page of the guide about the current screen, and to the API reference. */
export function DocumentationLinks() {
  const guide = useLocation({ select: ({ pathname }) => guidePageOf(pathname) })
  return (
    <>
      <a href={guide} className={classes.entry}>
        <Icon name="book" />
        {frame.guide}
      </a>
      <a href={inService('/docs')} className={classes.entry}>
        <Icon name="book" />
        {frame.documentation}
      </a>
    </>
  )
}
