/** The keys that move between the points of a chart. */
export type MoveKey = 'ArrowLeft' | 'ArrowRight' | 'ArrowUp' | 'ArrowDown' | 'Home' | 'End'

const MOVE_KEYS: readonly string[] = [
  'ArrowLeft',
  'ArrowRight',
  'ArrowUp',
  'ArrowDown',
  'Home',
  'End',
]

export const isMoveKey = (key: string): key is MoveKey => MOVE_KEYS.includes(key)

/** Moves along a row of points; up and down do the same as right and left. */
export function moveInRow(key: MoveKey, index: number, count: number): number {
  if (key === 'Home') return 0
  if (key === 'End') return count - 1
  const step = key === 'ArrowRight' || key === 'ArrowUp' ? 1 : -1
  return Math.min(count - 1, Math.max(0, index + step))
}

/** The place of a point in a chart with rows: `at` orders the points of a row. */
export type PlacedPoint = { row: number; at: number }

/**
 * Moves in a chart with rows, whose points are ordered by row and place: left and right within the
 * row, up and down to the nearest point of the next row that has one.
 */
export function moveInRows(key: MoveKey, index: number, points: readonly PlacedPoint[]): number {
  const here = points[index]
  if (!here || key === 'Home') return 0
  if (key === 'End') return points.length - 1
  if (key === 'ArrowLeft' || key === 'ArrowRight') {
    const next = index + (key === 'ArrowRight' ? 1 : -1)
    return points[next]?.row === here.row ? next : index
  }
  return nearestInNextRow(key === 'ArrowDown' ? 1 : -1, index, points)
}

function nearestInNextRow(step: 1 | -1, index: number, points: readonly PlacedPoint[]): number {
  const here = points[index] as PlacedPoint
  const rows = points.map(({ row }) => row).filter((row) => (row - here.row) * step > 0)
  if (rows.length === 0) return index
  const next = step > 0 ? Math.min(...rows) : Math.max(...rows)
  let nearest = index
  let distance = Infinity
  for (const [other, { row, at }] of points.entries()) {
    if (row !== next || Math.abs(at - here.at) >= distance) continue
    nearest = other
    distance = Math.abs(at - here.at)
  }
  return nearest
}

/** The left and top edge of a tooltip, in pixels of the plot. */
export function tooltipPlace(
  anchor: { x: number; y: number },
  size: { width: number; height: number },
  plotWidth: number,
): { left: number; top: number } {
  const left = Math.max(0, Math.min(plotWidth - size.width, anchor.x - size.width / 2))
  // Above the point, so that a finger does not cover it.
  return { left: Math.round(left), top: Math.round(anchor.y - size.height - TOOLTIP_GAP) }
}

const TOOLTIP_GAP = 10
