import type { FillTimes } from './fill.ts'
import type { Timed } from './maintenance.ts'
import { LIMIT_MS, type Measured } from './measure.ts'
import type { Sizes } from './sizes.ts'
import type { TableSize } from './tables.ts'

const count = (n: number) => Math.round(n).toLocaleString('en')
const gigabytes = (bytes: number) => (bytes / 1e9).toFixed(2)

export function presentFill(sizes: Sizes, times: FillTimes, bytes: number): string {
  const { share, reports, requests, records } = sizes
  const rate = (rows: number, seconds: number) => `${count(rows / seconds)} rows/s`
  return [
    `Share ${share}: ${gigabytes(bytes)} GB`,
    `- entities, audit log, alerts, monitoring: ${times.entities.toFixed(1)} s`,
    `- ${count(reports)} attack reports: ${times.attacks.toFixed(1)} s, ${rate(reports, times.attacks)}`,
    `- ${count(requests)} captured requests: ${times.requests.toFixed(1)} s, ${rate(requests, times.requests)}`,
    `- ${count(records)} DMARC records: ${times.dmarc.toFixed(1)} s, ${rate(records, times.dmarc)}`,
    `- vacuum analyze: ${times.vacuum.toFixed(1)} s`,
  ].join('\n')
}

export function presentSizes(tables: TableSize[]): string {
  const lines = tables.map(
    ({ name, rows, bytes, indexBytes }) =>
      `| ${name} | ${count(rows)} | ${gigabytes(bytes)} | ${gigabytes(indexBytes)} | ${count((bytes + indexBytes) / Math.max(1, rows))} |`,
  )
  return [
    '| table | rows | GB | indexes, GB | bytes a row |',
    '| --- | --- | --- | --- | --- |',
    ...lines,
  ].join('\n')
}

/** Pages of the largest and of a small workspace side by side; marked where they take too long. */
export function presentPages(largest: Measured[], small: Measured[]): string {
  const smallOf = new Map(small.map((one) => [one.name, one]))
  const rows = largest.map((one) => {
    const other = smallOf.get(one.name)
    return `| ${one.name} | ${cells(one)} | ${count(one.bytes / 1000)} | ${other ? cells(other) : ' | '} |`
  })
  const head = '| page | p50 ms | p95 ms | kB | small: p50 ms | p95 ms |'
  return [head, '| --- | --- | --- | --- | --- | --- |', ...rows].join('\n')
}

function cells({ p50, p95, failed }: Measured): string {
  const mark = p95 > LIMIT_MS ? ' !' : ''
  return `${p50.toFixed(1)} | ${p95.toFixed(1)}${mark}${failed === null ? '' : ` (answered ${failed})`}`
}

export function presentTimes(times: Timed[]): string {
  return times
    .map(
      ({ name, seconds, detail }) =>
        `- ${name}: ${seconds.toFixed(2)} s${detail ? `, ${detail}` : ''}`,
    )
    .join('\n')
}
