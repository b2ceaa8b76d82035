import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useLayoutEffect, useRef, useState, type KeyboardEvent } from 'react'
import { SecondOfDay } from '../../ui/text/ago.tsx'
import { Icon } from '../../ui/brand/icons.tsx'
import { sizeText } from '../../ui/text/format.ts'
import { VisuallyHidden } from '../../ui/text/visually-hidden.tsx'
import type { Inbox, ListedRequest } from './inbox.ts'
import { MethodBadge, RowBadges } from './badges.tsx'
import classes from './request-list.module.css'
import { list } from '../messages.ts'

/** Pixels of a row: all are alike, so that ten thousand cost no more than twenty. */
const ROW = 58

type RequestListProps = {
  inbox: Inbox
  /** Of the request that is shown beside the list. */
  selected: string | undefined
  /**
   * The same for a request that the user selected. The newest one is shown by default, and must not
   * scroll the list.
   */
  chosen: string | undefined
  onSelect: (id: string) => void
  onMore: () => void
}

/** Captured requests, newest first. New requests never move the rows in view. */
export function RequestList({
  inbox: { rows, hasMore },
  selected,
  chosen,
  onSelect,
  onMore,
}: RequestListProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    getItemKey: (index) => rows[index]?.id ?? index,
    overscan: 8,
  })
  const { unseen, toTop } = useArrivals(rows, scroller)
  const at = rows.findIndex(({ id }) => id === selected)
  useEffect(() => {
    if (chosen !== undefined && at >= 0) virtual.scrollToIndex(at, { align: 'auto' })
    // Only when another request is selected: new requests move nothing.
  }, [chosen])

  const items = virtual.getVirtualItems()
  const isAtEnd = (items.at(-1)?.index ?? 0) >= rows.length - 20
  useEffect(() => {
    if (hasMore && isAtEnd) onMore()
  }, [hasMore, isAtEnd, rows.length, onMore])

  function press(event: KeyboardEvent): void {
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key]
    const row = to === undefined ? undefined : rows[Math.max(0, to)]
    if (!row) return
    event.preventDefault()
    onSelect(row.id)
  }

  return (
    <div className={classes.frame}>
      {unseen > 0 && (
        <button type="button" className={classes.arrived} onClick={toTop}>
          <Icon name="up" size={14} />
          {list.newRequests(unseen)}
        </button>
      )}
      <div
        ref={scroller}
        className={classes.scroller}
        role="listbox"
        aria-label={list.captured}
        aria-activedescendant={
          items.some(({ index }) => index === at) ? `request-${selected}` : undefined
        }
        tabIndex={0}
        onKeyDown={press}
      >
        <div
          className={classes.whole}
          role="presentation"
          style={{ height: virtual.getTotalSize() }}
        >
          {items.map(({ index, key, start }) => (
            <Item
              key={key}
              row={rows[index] as ListedRequest}
              place={[index + 1, hasMore ? -1 : rows.length]}
              start={start}
              isSelected={index === at}
              onSelect={onSelect}
            />
          ))}
        </div>
      </div>
    </div>
  )
}

type ItemProps = {
  row: ListedRequest
  place: [at: number, of: number]
  start: number
  isSelected: boolean
  onSelect: (id: string) => void
}

function Item({ row, place: [at, of], start, isSelected, onSelect }: ItemProps) {
  return (
    <div
      id={`request-${row.id}`}
      className={classes.item}
      role="option"
      aria-selected={isSelected}
      aria-posinset={at}
      aria-setsize={of}
      style={{ height: ROW, transform: `translateY(${start}px)` }}
      onClick={() => onSelect(row.id)}
    >
      <MethodBadge name={row.method} />
      <Path path={row.path || '/'} query={row.query} />
      <span className={classes.when}>
        <SecondOfDay at={row.receivedAt} />
      </span>
      <span className={classes.beside}>
        {row.summary && <span className={classes.summary}>{row.summary}</span>}
        <span>{sizeText(row.bodySize)}</span>
        <span>{row.ip}</span>
        <RowBadges row={row} />
      </span>
    </div>
  )
}

/** Characters of a path that keep their place at its end. */
const END_CHARS = 12
/** Paths that are shorter are shortened at their end. */
const MIN_SPLIT_CHARS = 28

/** The path and the query. Where there is no room, the middle is left out: paths differ in the end. */
function Path({ path, query }: { path: string; query: string }) {
  const text = query ? `${path}?${query}` : path
  if (text.length < MIN_SPLIT_CHARS)
    return (
      <span className={classes.path}>
        {path}
        {query && <span className={classes.query}>?{query}</span>}
      </span>
    )
  return (
    <span className={classes.split} title={text}>
      <VisuallyHidden>{text}</VisuallyHidden>
      <span className={classes.path} aria-hidden="true">
        {text.slice(0, -END_CHARS)}
      </span>
      <span aria-hidden="true">{text.slice(-END_CHARS)}</span>
    </span>
  )
}

/** Keeps the rows in view in place when new ones arrive above, and counts the new ones. */
function useArrivals(rows: ListedRequest[], scroller: React.RefObject<HTMLDivElement | null>) {
  const first = useRef<string | undefined>(undefined)
  const [unseen, setUnseen] = useState(0)
  useLayoutEffect(() => {
    const before = first.current
    first.current = rows[0]?.id
    const element = scroller.current
    if (!element || before === undefined || before === rows[0]?.id) return
    const added = rows.findIndex(({ id }) => id === before)
    if (added <= 0 || element.scrollTop < ROW / 2) return
    element.scrollTop += added * ROW
    setUnseen((count) => count + added)
  }, [rows, scroller])
  useEffect(() => {
    const element = scroller.current
    const look = () => element && element.scrollTop < ROW / 2 && setUnseen(0)
    element?.addEventListener('scroll', look, { passive: true })
    return () => element?.removeEventListener('scroll', look)
  }, [scroller])
  const toTop = () => {
    scroller.current?.scrollTo({ top: 0 })
    setUnseen(0)
  }
  return { unseen, toTop }
}
