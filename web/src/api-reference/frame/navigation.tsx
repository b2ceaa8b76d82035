import { useDeferredValue, useLayoutEffect, useRef, useState, type KeyboardEvent } from 'react'
import { Icon } from '../../ui/brand/icons.tsx'
import { TextWithCode } from '../../ui/text/text-with-code.tsx'
import { findOperations } from '../document/find-operations.ts'
import type { Group, Operation, Reference } from '../document/reference.ts'
import { placeHref } from '../location.ts'
import { frame, overview, search as messages } from '../messages.ts'
import { Method } from '../operation/method.tsx'
import { SECTION_LINKS } from '../overview/sections.ts'
import classes from './navigation.module.css'

type NavigationProps = {
  reference: Reference | null
  current: string | null
  /** Called when a link is followed. */
  onGo?: () => void
  /** Whether it just opened over the page, so that the search takes the focus. */
  isSheet?: boolean
}

/** Search, sections of the overview, and operations by group. Arrow keys move through results. */
export function Navigation({ reference, current, onGo, isSheet = false }: NavigationProps) {
  const [search, setSearch] = useState('')
  const found = findOperations(reference?.groups ?? [], useDeferredValue(search))
  const isSearching = search.trim() !== ''
  const count = found.reduce((sum, { operations }) => sum + operations.length, 0)
  const place = useRef<HTMLElement>(null)

  function step(event: KeyboardEvent): void {
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
    const stops = [
      ...(place.current?.querySelectorAll<HTMLElement>('input, a, summary') ?? []),
    ].filter((stop) => stop.checkVisibility())
    const at = stops.indexOf(document.activeElement as HTMLElement)
    const next = stops[at + (event.key === 'ArrowDown' ? 1 : -1)]
    if (at < 0 || !next) return
    event.preventDefault()
    next.focus()
  }

  function openFirst(event: { preventDefault: () => void }): void {
    event.preventDefault()
    const [first] = found[0]?.operations ?? []
    if (!isSearching || !first) return
    window.location.hash = placeHref(first.id)
    onGo?.()
  }

  return (
    <nav ref={place} className={classes.navigation} aria-label={frame.navigation} onKeyDown={step}>
      <form role="search" className={classes.search} onSubmit={openFirst}>
        <Icon name="search" size={16} />
        <input
          type="search"
          aria-label={messages.label}
          placeholder={messages.placeholder}
          autoComplete="off"
          spellCheck={false}
          autoFocus={isSheet}
          value={search}
          onChange={({ target }) => setSearch(target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Escape' || search === '') return
            // Clears the search before a second press closes the dialog.
            event.preventDefault()
            setSearch('')
          }}
        />
        <kbd aria-hidden="true">/</kbd>
      </form>
      <p className={classes.count} role="status">
        {isSearching ? messages.results(count) : ''}
      </p>
      <div className={classes.list}>
        {!isSearching && <Sections onGo={onGo} />}
        {found.map((group) => (
          <GroupEntries
            key={group.name}
            group={group}
            isOpen={isSearching}
            current={current}
            onGo={onGo}
          />
        ))}
        {isSearching && count === 0 && (
          <p className={classes.none}>
            {messages.noResults(search.trim())} <TextWithCode text={messages.hint} />
          </p>
        )}
      </div>
    </nav>
  )
}

function Sections({ onGo }: { onGo?: (() => void) | undefined }) {
  return (
    <ul className={classes.sections}>
      {SECTION_LINKS.map((section) => (
        <li key={section}>
          <a href={placeHref(section)} onClick={onGo}>
            {overview[section]}
          </a>
        </li>
      ))}
    </ul>
  )
}

type GroupProps = {
  group: Group
  isOpen: boolean
  current: string | null
  onGo?: (() => void) | undefined
}

/** Open while it contains the current operation or results, or when a person opened it. */
function GroupEntries({ group, isOpen, current, onGo }: GroupProps) {
  const details = useRef<HTMLDetailsElement>(null)
  const hasCurrent = group.operations.some(({ id }) => id === current)
  // Before the first paint: opened after it, the group would push away what is below it.
  useLayoutEffect(() => {
    if (!details.current) return
    details.current.open = isOpen || hasCurrent
    if (hasCurrent)
      details.current.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' })
  }, [isOpen, hasCurrent, current])
  return (
    <details ref={details} className={classes.group}>
      <summary>
        <span>{group.name}</span>
        <span className={classes.size}>{group.operations.length}</span>
      </summary>
      <ul>
        {group.operations.map((operation) => (
          <Entry
            key={operation.id}
            operation={operation}
            isCurrent={operation.id === current}
            onGo={onGo}
          />
        ))}
      </ul>
    </details>
  )
}

type EntryProps = { operation: Operation; isCurrent: boolean; onGo?: (() => void) | undefined }

function Entry({ operation: { id, method, summary, path }, isCurrent, onGo }: EntryProps) {
  return (
    <li>
      <a
        href={placeHref(id)}
        title={path}
        aria-current={isCurrent ? 'page' : undefined}
        onClick={onGo}
      >
        <Method method={method} isShort />
        <span>{summary}</span>
      </a>
    </li>
  )
}
