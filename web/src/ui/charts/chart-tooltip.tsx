import { Link, type LinkProps } from '@tanstack/react-router'
import { useLayoutEffect, useRef, useState, type ComponentProps } from 'react'
import classes from './chart-tooltip.module.css'
import { tooltipPlace } from './cursor.ts'
import type { Look } from './look.ts'
import { Swatch } from './swatch.tsx'

/** The screen that a point stands for. */
export type DrillDown = Pick<LinkProps, 'to' | 'params' | 'search' | 'hash'> & { label: string }

/** A point that can be shown: its name, its values and where it leads. */
export type ChartPoint = {
  title: string
  values: { name: string; value: string; look?: Look }[]
  /** A sentence below the values. */
  note?: string | undefined
  open?: DrillDown | undefined
}

type ChartTooltipProps = {
  point: ChartPoint
  /** Stays and takes clicks: shown by keyboard or touch. */
  isPinned: boolean
  anchor: { x: number; y: number }
  plotWidth: number
}

/** The values of a point, and the link to what it stands for. */
export function ChartTooltip({ point, isPinned, anchor, plotWidth }: ChartTooltipProps) {
  const { title, values, note, open } = point
  const box = useRef<HTMLDivElement>(null)
  const [size, setSize] = useState({ width: 0, height: 0 })
  useLayoutEffect(() => {
    if (!box.current) return
    const { offsetWidth: width, offsetHeight: height } = box.current
    if (width !== size.width || height !== size.height) setSize({ width, height })
  })
  return (
    <div
      ref={box}
      className={classes.tooltip}
      style={tooltipPlace(anchor, size, plotWidth)}
      data-pinned={isPinned}
      data-measured={size.width > 0}
      data-chart-tooltip
    >
      <strong className={classes.title}>{title}</strong>
      {values.length > 0 && (
        <dl className={classes.values}>
          {values.map(({ name, value, look }) => (
            <div key={name}>
              <dt>
                {look && <Swatch look={look} />}
                {name}
              </dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
      {note && <p className={classes.note}>{note}</p>}
      {open && <OpenLink {...open} isPinned={isPinned} />}
    </div>
  )
}

function OpenLink({ label, isPinned, ...to }: DrillDown & { isPinned: boolean }) {
  return (
    <Link
      {...(to as ComponentProps<typeof Link>)}
      className={classes.open}
      tabIndex={isPinned ? 0 : -1}
    >
      {label}
    </Link>
  )
}
