import { useNavigate } from '@tanstack/react-router'
import {
  useId,
  useRef,
  useState,
  type FocusEvent,
  type KeyboardEvent,
  type PointerEvent,
  type ReactNode,
} from 'react'
import { messages } from '../messages.ts'
import { VisuallyHidden } from '../text/visually-hidden.tsx'
import classes from './chart-surface.module.css'
import { ChartTooltip, type ChartPoint } from './chart-tooltip.tsx'
import { isMoveKey, moveInRow, type MoveKey } from './cursor.ts'
import { useNearWindow } from '../use-near-window.ts'
import { useWidth } from './use-width.ts'

type ChartSurfaceProps = {
  /** The name of the chart. */
  label: string
  /** Reserved before the width is known, so that nothing moves when the chart is drawn. */
  height: number
  /** In the order of the arrow keys. */
  points: readonly ChartPoint[]
  /** The point that the keyboard starts with. By default the last one. */
  first?: number
  /** @returns the index that a key leads to */
  move?: (key: MoveKey, index: number) => number
  /** The point at a place in the plot, or null. */
  hit: (x: number, y: number, width: number) => number | null
  /** Where the tooltip of a point is attached. */
  anchor: (index: number, width: number) => { x: number; y: number }
  /** Draws the chart, once its width is known and it is near the window. */
  children: (width: number, active: number | null) => ReactNode
}

type Cursor = { index: number; isPinned: boolean; isAnnounced: boolean } | null

/**
 * The plot of a chart whose points are shown by mouse, keyboard and touch. A click, Enter, or a
 * second tap opens what the point stands for.
 */
export function ChartSurface(props: ChartSurfaceProps) {
  const { label, height, points, anchor, children } = props
  const [plot, width] = useWidth<HTMLDivElement>()
  const isNear = useNearWindow(plot)
  const hint = useId()
  const { cursor, close, handlers } = useCursor(props, width)
  const shown = cursor && points[cursor.index]
  return (
    <div
      className={classes.place}
      onBlur={({ currentTarget, relatedTarget }: FocusEvent) => {
        if (!currentTarget.contains(relatedTarget)) close()
      }}
    >
      <div
        ref={plot}
        className={classes.plot}
        style={{ height }}
        role="application"
        aria-roledescription={messages.chart.role}
        aria-label={label}
        aria-describedby={hint}
        tabIndex={points.length > 0 ? 0 : -1}
        data-opens={shown?.open !== undefined}
        {...handlers}
      >
        {isNear && width > 0 && children(width, cursor?.index ?? null)}
      </div>
      <span id={hint} hidden>
        {messages.chart.hint}
      </span>
      <VisuallyHidden>
        <span role="status">{shown && cursor.isAnnounced && announcementOf(shown)}</span>
      </VisuallyHidden>
      {shown && (
        <ChartTooltip
          point={shown}
          isPinned={cursor.isPinned}
          anchor={anchor(cursor.index, width)}
          plotWidth={width}
        />
      )}
    </div>
  )
}

/** A point as one sentence, for screen readers. */
function announcementOf({ title, values, note, open }: ChartPoint): string {
  const counts = values.map(({ name, value }) => messages.chart.value(name, value)).join(', ')
  return [counts ? `${title}: ${counts}` : title, note, open?.label].filter(Boolean).join('. ')
}

function useCursor(
  { points, first = points.length - 1, move, hit }: ChartSurfaceProps,
  width: number,
) {
  const navigate = useNavigate()
  const [chosen, setCursor] = useState<Cursor>(null)
  const pointer = useRef('mouse')
  // Data may have become shorter meanwhile.
  const cursor = chosen && chosen.index < points.length ? chosen : null
  const close = () => setCursor(null)

  function open(index: number): void {
    const { label: _, ...to } = points[index]?.open ?? { label: '' }
    if (to.to !== undefined) void navigate(to as Parameters<typeof navigate>[0])
  }
  function pointAt({
    clientX,
    clientY,
    currentTarget,
  }: PointerEvent | MouseEventAt): number | null {
    const { left, top } = currentTarget.getBoundingClientRect()
    return hit(clientX - left, clientY - top, width)
  }
  function click(event: MouseEventAt): void {
    const index = pointAt(event)
    if (index === null) return close()
    const isShown = cursor?.index === index && cursor.isPinned
    if (pointer.current === 'mouse' || isShown) {
      if (points[index]?.open) return open(index)
    }
    setCursor({ index, isPinned: true, isAnnounced: true })
  }
  function press(event: KeyboardEvent): void {
    const { key } = event
    if (isMoveKey(key)) {
      event.preventDefault()
      const index = cursor
        ? (move?.(key, cursor.index) ?? moveInRow(key, cursor.index, points.length))
        : first
      return setCursor({ index, isPinned: true, isAnnounced: true })
    }
    if (cursor === null) return
    if (key === 'Enter') open(cursor.index)
    if (key === 'Escape') {
      event.stopPropagation()
      close()
    }
  }
  const handlers = {
    onPointerDown: ({ pointerType }: PointerEvent) => void (pointer.current = pointerType),
    onPointerMove(event: PointerEvent): void {
      if (event.pointerType !== 'mouse') return
      const index = pointAt(event)
      if (index !== cursor?.index || cursor.isPinned)
        setCursor(index === null ? null : { index, isPinned: false, isAnnounced: false })
    },
    onPointerLeave({ pointerType }: PointerEvent): void {
      if (pointerType === 'mouse' && !cursor?.isPinned) close()
    },
    onClick: click,
    onKeyDown: press,
    onFocus({ currentTarget }: FocusEvent): void {
      if (currentTarget.matches(':focus-visible') && cursor === null && points.length > 0)
        setCursor({ index: first, isPinned: true, isAnnounced: true })
    },
  }
  return { cursor, close, handlers }
}

type MouseEventAt = { clientX: number; clientY: number; currentTarget: EventTarget & Element }
