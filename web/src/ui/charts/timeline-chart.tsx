import { useId } from 'react'
import { utcDay, utcDayText } from '../text/dates.ts'
import { LabelAxis } from './axes.tsx'
import { ChartFigure } from './chart-figure.tsx'
import { ChartSurface } from './chart-surface.tsx'
import type { ChartPoint } from './chart-tooltip.tsx'
import { moveInRows } from './cursor.ts'
import { Hatches, hatchOf } from './hatches.tsx'
import type { Look } from './look.ts'
import looks from './looks.module.css'
import { daysBetween, fitText, spanPixels } from './series.ts'
import classes from './timeline-chart.module.css'

/** A span of time, in milliseconds since 1970. A mark is a span without length. */
export type TimelineItem = {
  from: number
  to: number
  look: Extract<Look, 'good' | 'bad' | 'unknown'> | 'certificate' | 'record'
  point: ChartPoint
}

export type TimelineRow = { name: string; items: TimelineItem[] }

type TimelineChartProps = {
  label: string
  /** A summary in a sentence or two. */
  text: string
  legend: { name: string; look: Look }[]
  /** Milliseconds since 1970. */
  from: number
  to: number
  rows: TimelineRow[]
}

const ROW_HEIGHT = 36
const BAR = 14
const MARK = 7
const BELOW = 24
/** Pixels below which the name of a row stands above its bars. */
const NARROW = 560
const LABEL_WIDTH = 184

/** A row of bars and marks over time for each name. Place a table beside it. */
export function TimelineChart({ label, text, legend, from, to, rows }: TimelineChartProps) {
  const [caption, hatch] = [useId(), useId()]
  const items = rows.flatMap(({ items: own }, row) =>
    own.toSorted((one, other) => one.from - other.from).map((item) => ({ ...item, row })),
  )
  const time = { from, to }
  const places = items.map(({ row, from: at }) => ({ row, at }))
  const boxOf = (index: number, width: number) => boxOfItem(items[index], layoutOf(width), time)
  const height = rows.length * ROW_HEIGHT + BELOW
  return (
    <ChartFigure legend={legend} text={text} textId={caption}>
      <ChartSurface
        label={label}
        height={height}
        points={items.map(({ point }) => point)}
        first={0}
        move={(key, index) => moveInRows(key, index, places)}
        hit={(x, y, width) => itemAt(items, x, y, layoutOf(width), time)}
        anchor={(index, width) => {
          const box = boxOf(index, width)
          return { x: box.x + Math.min(box.width, 240) / 2, y: box.y }
        }}
      >
        {(width, active) => {
          const layout = layoutOf(width)
          return (
            <svg
              width={width}
              height={height}
              role="img"
              aria-label={label}
              aria-describedby={caption}
            >
              <Hatches id={hatch} />
              {rows.map(({ name }, row) => (
                <RowGround key={`${name} ${row}`} name={name} row={row} layout={layout} />
              ))}
              {items.map((item, index) => (
                <Item
                  key={index}
                  look={item.look}
                  box={boxOf(index, width)}
                  hatch={hatch}
                  isActive={index === active}
                />
              ))}
              <TimeAxis {...time} layout={layout} y={rows.length * ROW_HEIGHT + 16} />
            </svg>
          )
        }}
      </ChartSurface>
    </ChartFigure>
  )
}

type Layout = { left: number; width: number; isNarrow: boolean }

function layoutOf(width: number): Layout {
  const isNarrow = width < NARROW
  const left = isNarrow ? 0 : LABEL_WIDTH
  return { left, width: Math.max(1, width - left), isNarrow }
}

type Time = { from: number; to: number }
type PlacedItem = TimelineItem & { row: number }
type Box = { x: number; y: number; width: number; height: number }

const isMark = ({ look }: TimelineItem) => look === 'certificate' || look === 'record'

function barTop(row: number, { isNarrow }: Layout): number {
  return row * ROW_HEIGHT + (isNarrow ? ROW_HEIGHT - BAR - 4 : (ROW_HEIGHT - BAR) / 2)
}

function boxOfItem(item: PlacedItem | undefined, layout: Layout, time: Time): Box {
  if (!item) return { x: 0, y: 0, width: 0, height: 0 }
  const { x, width } = spanPixels(item, time, layout.width, isMark(item) ? MARK * 2 : 3)
  const left = isMark(item) ? x - (item.to > item.from ? 0 : MARK) : x
  const place = Math.max(0, Math.min(layout.width - width, left))
  return { x: layout.left + place, y: barTop(item.row, layout), width, height: BAR }
}

/** The last item drawn at a place: marks lie above bars. */
function itemAt(
  items: PlacedItem[],
  x: number,
  y: number,
  layout: Layout,
  time: Time,
): number | null {
  const row = Math.floor(y / ROW_HEIGHT)
  let found: number | null = null
  let distance = Infinity
  for (const [index, item] of items.entries()) {
    if (item.row !== row) continue
    const box = boxOfItem(item, layout, time)
    // A finger is wider than a bar of one day.
    const away = Math.max(box.x - x, x - (box.x + box.width), 0)
    if (away > 12 || away > distance) continue
    found = index
    distance = away
  }
  return found
}

function RowGround({ name, row, layout }: { name: string; row: number; layout: Layout }) {
  const { left, width, isNarrow } = layout
  const top = barTop(row, layout)
  return (
    <>
      <text
        className={classes.name}
        x={0}
        y={isNarrow ? top - 6 : top + BAR / 2}
        dy={isNarrow ? 0 : '0.35em'}
      >
        {fitText(name, isNarrow ? width : LABEL_WIDTH - 12)}
      </text>
      <line
        className={classes.ground}
        x1={left}
        x2={left + width}
        y1={top + BAR / 2}
        y2={top + BAR / 2}
      />
    </>
  )
}

type ItemProps = { look: TimelineItem['look']; box: Box; hatch: string; isActive: boolean }

function Item({ look, box, hatch, isActive }: ItemProps) {
  const [middleX, middleY] = [box.x + box.width / 2, box.y + box.height / 2]
  if (look === 'certificate')
    return (
      <circle
        className={classes.certificate}
        data-active={isActive}
        cx={middleX}
        cy={middleY}
        r={6}
      />
    )
  if (look === 'record')
    return (
      <rect
        className={classes.record}
        data-active={isActive}
        x={middleX - 5}
        y={middleY - 5}
        width={10}
        height={10}
        transform={`rotate(45 ${middleX} ${middleY})`}
      />
    )
  // Clean time is a thin line: attention belongs to the other periods.
  const height = look === 'good' ? 4 : box.height
  return (
    <rect
      {...box}
      className={`${looks[look]} ${classes.bar}`}
      data-active={isActive}
      y={box.y + (box.height - height) / 2}
      height={height}
      rx={2}
      fill={hatchOf(look, hatch)}
    />
  )
}

function TimeAxis({ from, to, layout, y }: Time & { layout: Layout; y: number }) {
  const days = daysBetween(utcDay(from), utcDay(to))
  const step = layout.width / Math.max(1, days.length - 1)
  return (
    <g transform={`translate(${layout.left} 0)`}>
      <LabelAxis labels={days.map(utcDayText)} x={(day) => day * step} y={y} width={layout.width} />
    </g>
  )
}
