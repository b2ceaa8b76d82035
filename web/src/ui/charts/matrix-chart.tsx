import { useId } from 'react'
import { ChartFigure } from './chart-figure.tsx'
import { compactText } from './axes.tsx'
import { ChartSurface } from './chart-surface.tsx'
import type { ChartPoint } from './chart-tooltip.tsx'
import { moveInRows } from './cursor.ts'
import looks from './looks.module.css'
import classes from './matrix-chart.module.css'
import { fitText, fitTwoLines } from './series.ts'

/** A cell with a count; cells of 0 are left out. */
export type MatrixCell = { row: number; column: number; count: number; point: ChartPoint }

type MatrixChartProps = {
  label: string
  text: string
  rows: { name: string; detail: string }[]
  columns: string[]
  cells: MatrixCell[]
}

const ROW = 40
const HEAD = 40
const LABELS = { wide: 240, narrow: 116 }
const NARROW = 560
const MAX_SIDE = 34
const MIN_SIDE = 4
/** Pixels of a square that a number fits into. */
const NUMBER_SIDE = 26

/** Squares whose area is a count, in rows and columns. Place a table beside it. */
export function MatrixChart({ label, text, rows, columns, cells }: MatrixChartProps) {
  const caption = useId()
  const ordered = cells.toSorted((one, other) => one.row - other.row || one.column - other.column)
  const places = ordered.map(({ row, column }) => ({ row, at: column }))
  const height = HEAD + rows.length * ROW
  const highest = Math.max(1, ...cells.map(({ count }) => count))
  return (
    <ChartFigure legend={[]} text={text} textId={caption}>
      <ChartSurface
        label={label}
        height={height}
        points={ordered.map(({ point }) => point)}
        first={0}
        move={(key, index) => moveInRows(key, index, places)}
        hit={(x, y, width) => cellAt(ordered, x, y, layoutOf(width, columns.length))}
        anchor={(index, width) => {
          const { x, y } = middleOf(ordered[index], layoutOf(width, columns.length))
          return { x, y: y - ROW / 2 + 4 }
        }}
      >
        {(width, active) => {
          const layout = layoutOf(width, columns.length)
          return (
            <svg
              width={width}
              height={height}
              role="img"
              aria-label={label}
              aria-describedby={caption}
            >
              <Labels rows={rows} columns={columns} layout={layout} width={width} />
              {ordered.map((cell, index) => (
                <Square
                  key={index}
                  {...middleOf(cell, layout)}
                  count={cell.count}
                  side={sideOf(cell.count, highest)}
                  isActive={index === active}
                />
              ))}
            </svg>
          )
        }}
      </ChartSurface>
    </ChartFigure>
  )
}

/** The side of a square whose area is its share of the highest count. */
export function sideOf(count: number, highest: number): number {
  return Math.max(MIN_SIDE, Math.sqrt(count / highest) * MAX_SIDE)
}

type Layout = { left: number; column: number }

function layoutOf(width: number, columns: number): Layout {
  const left = width < NARROW ? LABELS.narrow : LABELS.wide
  return { left, column: (width - left) / Math.max(1, columns) }
}

function middleOf(cell: MatrixCell | undefined, { left, column }: Layout) {
  const { row = 0, column: at = 0 } = cell ?? {}
  return { x: left + (at + 0.5) * column, y: HEAD + (row + 0.5) * ROW }
}

function cellAt(
  cells: MatrixCell[],
  x: number,
  y: number,
  { left, column }: Layout,
): number | null {
  const [row, at] = [Math.floor((y - HEAD) / ROW), Math.floor((x - left) / column)]
  const found = cells.findIndex((cell) => cell.row === row && cell.column === at)
  return found === -1 ? null : found
}

function Labels({
  rows,
  columns,
  layout: { left, column },
  width,
}: Pick<MatrixChartProps, 'rows' | 'columns'> & { layout: Layout; width: number }) {
  return (
    <>
      {columns.map((name, at) =>
        fitTwoLines(name, column - 8).map((line, index, { length }) => (
          <text
            key={`${name} ${index}`}
            x={left + (at + 0.5) * column}
            y={HEAD - 8 - (length - 1 - index) * 14}
            textAnchor="middle"
          >
            {line}
          </text>
        )),
      )}
      {rows.map(({ name, detail }, row) => (
        <g key={name} transform={`translate(0 ${HEAD + row * ROW})`}>
          <line className={classes.line} x2={width} />
          <text className={classes.name} y={detail ? 17 : 25}>
            {fitText(name, left - 12)}
          </text>
          {detail && <text y={32}>{fitText(detail, left - 12)}</text>}
        </g>
      ))}
    </>
  )
}

type SquareProps = { x: number; y: number; side: number; count: number; isActive: boolean }

function Square({ x, y, side, count, isActive }: SquareProps) {
  return (
    <>
      <rect
        className={`${looks.main} ${classes.square}`}
        data-active={isActive}
        x={x - side / 2}
        y={y - side / 2}
        width={side}
        height={side}
        rx={Math.min(4, side / 4)}
      />
      {side >= NUMBER_SIDE && (
        <text className={classes.number} x={x} y={y} dy="0.35em" textAnchor="middle">
          {compactText(count)}
        </text>
      )}
    </>
  )
}
