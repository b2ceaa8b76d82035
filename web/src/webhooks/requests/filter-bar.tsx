import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import type { RequestFilter } from '../api.ts'
import fieldClasses from '../../ui/forms/small-field.module.css'
import classes from './filter-bar.module.css'
import type { Inbox } from './inbox.ts'
import { filter as messages, list } from '../messages.ts'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']

/** Milliseconds after the last letter: the address follows who types, not each letter. */
const TYPED = 250

const FIELD = 'filter-of-requests'

export function focusFilter(): void {
  document.getElementById(FIELD)?.focus()
}

/** Filters the list. The filter is part of the URL, so that it can be bookmarked and shared. */
export function FilterBar({
  filter: { q = '', method = '' },
  inbox,
}: {
  filter: RequestFilter
  inbox: Inbox
}) {
  const navigate = useNavigate({ from: '/hooks/$id' })
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])

  function filter(change: RequestFilter): void {
    void navigate({
      search: (search) => ({ ...search, ...change, request: undefined }),
      replace: true,
    })
  }
  function type(text: string): void {
    clearTimeout(timer.current)
    timer.current = setTimeout(() => filter({ q: text || undefined }), TYPED)
  }

  return (
    <div className={classes.bar} role="search" aria-label={list.requests}>
      <input
        id={FIELD}
        className={`${fieldClasses.field} ${classes.field}`}
        type="search"
        aria-label={messages.field}
        placeholder={messages.placeholder}
        defaultValue={q}
        onChange={(event) => type(event.currentTarget.value)}
        autoComplete="off"
        spellCheck={false}
        maxLength={200}
      />
      <select
        className={`${fieldClasses.field} ${classes.field}`}
        aria-label={messages.method}
        value={method}
        onChange={(event) => filter({ method: event.currentTarget.value || undefined })}
      >
        <option value="">{messages.anyMethod}</option>
        {METHODS.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <p className={classes.count} role="status">
        {inbox.state === 'loading' ? messages.loading : countText(inbox, Boolean(q || method))}
      </p>
    </div>
  )
}

function countText({ rows, hasMore }: Inbox, isFiltered: boolean): string {
  return rows.length === 0 ? messages.noMatches : messages.count(rows.length, hasMore, isFiltered)
}
