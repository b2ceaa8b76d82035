import { describe, expect, it } from 'vitest'
import { topServices } from '../../web/src/attacks/attack-map.tsx'
import { labelStep } from '../../web/src/ui/charts/axes.tsx'
import { moveInRow, moveInRows, tooltipPlace } from '../../web/src/ui/charts/cursor.ts'
import { sideOf } from '../../web/src/ui/charts/matrix-chart.tsx'
import {
  dayAt,
  daysBetween,
  fitText,
  fitTwoLines,
  rateOf,
  segmentsOf,
  spanPixels,
} from '../../web/src/ui/charts/series.ts'

describe('the series of a chart', () => {
  it('have gaps where nothing is known, never 0%', () => {
    expect(rateOf(0, 0)).toBeNull()
    expect(rateOf(4, 0)).toBe(0)
    expect(segmentsOf([100, null, 0, 50, null, null, 1])).toEqual([[0], [2, 3], [6]])
    expect(segmentsOf([null])).toEqual([])
  })
  it('have every day of their range', () => {
    expect(daysBetween('2026-02-27', '2026-03-01')).toEqual([
      '2026-02-27',
      '2026-02-28',
      '2026-03-01',
    ])
  })
})

describe('the places of a chart', () => {
  it('keep short spans visible and inside of the plot', () => {
    const time = { from: 0, to: 1_000 }
    expect(spanPixels({ from: 250, to: 500 }, time, 400)).toEqual({ x: 100, width: 100 })
    expect(spanPixels({ from: 1_000, to: 1_000 }, time, 400)).toEqual({ x: 397, width: 3 })
    expect(spanPixels({ from: -500, to: 100 }, time, 400)).toEqual({ x: 0, width: 40 })
  })
  it('find the day below the pointer, and none beside the plot', () => {
    expect([0, 99, 100, 399, 400].map((x) => dayAt(x, 4, 400))).toEqual([0, 0, 1, 3, 3])
    expect([dayAt(-1, 4, 400), dayAt(401, 4, 400), dayAt(5, 0, 400)]).toEqual([null, null, null])
  })
  it('keep a tooltip inside of the plot', () => {
    const size = { width: 100, height: 40 }
    expect(tooltipPlace({ x: 10, y: 90 }, size, 300)).toEqual({ left: 0, top: 40 })
    expect(tooltipPlace({ x: 290, y: 90 }, size, 300)).toEqual({ left: 200, top: 40 })
  })
  it('draw counts as areas', () => {
    expect(sideOf(25, 100)).toBe(sideOf(100, 100) / 2)
    expect(sideOf(1, 1_000_000)).toBeGreaterThan(0)
  })
  it('leave labels out and shorten texts that do not fit', () => {
    expect([labelStep(30, 1_000), labelStep(30, 150), labelStep(1, 10)]).toEqual([3, 15, 1])
    expect([fitText('mail.example.com', 60), fitText('short', 60)]).toEqual(['mail.exa…', 'short'])
    expect(fitTwoLines('SSH login brute force', 80)).toEqual(['SSH login', 'brute force'])
  })
})

describe('the arrow keys in a chart', () => {
  it('move along a row and stop at its ends', () => {
    expect(moveInRow('ArrowRight', 2, 3)).toBe(2)
    expect(moveInRow('ArrowLeft', 2, 3)).toBe(1)
    expect([moveInRow('Home', 2, 3), moveInRow('End', 0, 3)]).toEqual([0, 2])
  })
  it('move to the nearest point of the next row that has one', () => {
    const points = [
      { row: 0, at: 1 },
      { row: 0, at: 9 },
      { row: 2, at: 2 },
      { row: 2, at: 8 },
    ]
    expect(moveInRows('ArrowDown', 1, points)).toBe(3)
    expect(moveInRows('ArrowUp', 2, points)).toBe(0)
    expect(moveInRows('ArrowRight', 1, points)).toBe(1)
    expect(moveInRows('ArrowUp', 0, points)).toBe(0)
  })
})

describe('the services of the attack map', () => {
  const networks = [
    {
      network: 'AS64500',
      name: '',
      reports: 6,
      services: [
        { service: 'ssh', count: 3 },
        { service: 'smtp', count: 2 },
        { service: 'imap', count: 1 },
      ],
    },
  ]
  const others = { networks: 0, reports: 0, services: [] }
  it('are those with most reports, and the others as one', () => {
    expect(topServices({ networks, others }, 3)).toEqual(['ssh', 'smtp', 'imap'])
    expect(topServices({ networks, others }, 2)).toEqual(['ssh', null])
  })
})
