import { nice, ticks } from 'd3-array'

/** Where a value is drawn: 0 at the bottom, the highest one at the top. */
export type ValueScale = (value: number) => number

export function valueScale(highest: number, height: number): ValueScale {
  return (value) => height * (1 - value / highest)
}

/** An axis from 0 to a round number, with up to about as many ticks. */
export function niceScale(highest: number, height: number, count: number) {
  const [, end] = nice(0, highest, count)
  return { y: valueScale(end, height), ticks: ticks(0, end, count) }
}

/** A band for each day, with a quarter of a step between two. */
export type DayScale = {
  /** From the beginning of a band to that of the next one. */
  step: number
  band: number
  left: (day: number) => number
  middle: (day: number) => number
}

export function dayScale(days: number, width: number): DayScale {
  const step = Math.max(1, width) / Math.max(1, days - 0.25)
  const band = step * 0.75
  return { step, band, left: (day) => day * step, middle: (day) => day * step + band / 2 }
}

/** For each layer and day, where its part of the stack begins and ends. */
export function stackLayers(layers: number[][], days: number): [bottom: number, top: number][][] {
  let tops = Array.from({ length: days }, () => 0)
  return layers.map((counts) => {
    const bottoms = tops
    tops = bottoms.map((bottom, day) => bottom + (counts[day] ?? 0))
    return bottoms.map((bottom, day) => [bottom, tops[day] ?? bottom])
  })
}

/** The `d` of a path through the points. */
export function linePath(points: readonly (readonly [x: number, y: number])[]): string {
  return `M${points.map(([x, y]) => `${x} ${y}`).join('L')}`
}
