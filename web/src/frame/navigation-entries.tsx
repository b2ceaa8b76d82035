import { useQuery } from '@tanstack/react-query'
import { useLocation } from '@tanstack/react-router'
import { inService } from '../base-path.ts'
import { Icon } from '../ui/brand/icons.tsx'
import { EntryLink } from './entry-link.tsx'
import { findEntry, MODULES, SETTINGS, type NavigationEntry } from './navigation.ts'
import classes from './navigation-entries.module.css'
import { guidePageOf } from './guide-page.ts'
import { useVisibleEntries } from './use-visible-entries.ts'
import { frame } from './messages.ts'
import { numberText } from '../ui/text/format.ts'
import { VisuallyHidden } from '../ui/text/visually-hidden.tsx'
import { problemsQuery } from '../overview/problems.ts'

type EntriesProps = { entries: NavigationEntry[]; onGo?: () => void }

const ENTRIES = [...MODULES, SETTINGS]

/** Links to screens, for the sidebar, the bottom bar and the sheet. */
export function NavigationEntries({ entries, onGo }: EntriesProps) {
  const path = useLocation({ select: ({ pathname }) => pathname })
  const current = findEntry(ENTRIES, path)
  return (
    <ul className={classes.list}>
      {useVisibleEntries(entries).map((entry) => (
        <li key={entry.to} data-primary={entry.isPrimary === true}>
          <EntryLink
            to={entry.to}
            className={classes.entry}
            isCurrent={entry === current}
            onClick={onGo}
          >
            <Icon name={entry.icon} />
            <Label {...entry} />
            {entry.countsProblems && <ProblemCount />}
          </EntryLink>
        </li>
      ))}
    </ul>
  )
}

function Label({ label, short = label }: NavigationEntry) {
  return (
    <span>
      {short}
      <span className={classes.rest}>{label.slice(short.length)}</span>
    </span>
  )
}

/** The number of problems of the workspace; nothing without any. */
function ProblemCount() {
  const { data: { count } = { count: 0 } } = useQuery(problemsQuery)
  if (count === 0) return null
  return (
    <span className={classes.count}>
      <VisuallyHidden>, </VisuallyHidden>
      {numberText(count)}
      <VisuallyHidden> {frame.open}</VisuallyHidden>
    </span>
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
