import { describe, expect, it } from 'vitest'
import { topServices } from '../../web/src/attacks/attack-map.tsx'
import { labelStep } from '../../web/src/ui/charts/axes.tsx'
import { moveInRow, moveInRows, tooltipPlace } from '../../web/src/ui/charts/cursor.ts'
import { sideOf } from '../../web/src/ui/charts/matrix-chart.tsx'
import { dayScale, linePath, niceScale, stackLayers } from '../../web/src/ui/charts/scales.ts'
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

describe('the scales of a chart', () => {
  it('end at a round number, with few ticks and no halves of small counts', () => {
    expect(niceScale(1, 100, 1).ticks).toEqual([0, 1])
    expect(niceScale(2, 100, 2).ticks).toEqual([0, 1, 2])
    const { y, ticks } = niceScale(1_730, 100, 3)
    expect(ticks).toEqual([0, 500, 1_000, 1_500, 2_000])
    expect(ticks.map(y)).toEqual([100, 75, 50, 25, 0])
  })
  it('stack each layer on those below, days without a count too', () => {
    const layers = stackLayers([[1, 2], [3], [5, 8]], 2)
    expect(layers).toEqual([
      [[0, 1], [0, 2]],
      [[1, 4], [2, 2]],
      [[4, 9], [2, 10]],
    ]) // prettier-ignore
  })
  it('give each day a band within the width', () => {
    const { left, middle, band } = dayScale(7, 675)
    expect([left(0), left(6) + band]).toEqual([0, 675])
    expect(middle(3)).toBe(337.5)
    expect(dayScale(1, 300)).toMatchObject({ step: 300, band: 225 })
  })
  it('draw a line through points', () => {
    expect(linePath([[0, 1], [2.5, 3]])).toBe('M0 1L2.5 3') // prettier-ignore
  })
})
