// Reads one file as a report in a separate process. Prints the result and the peak memory.
import { existsSync, readFileSync } from 'node:fs'
import { openReports, readReport } from '../../../src/protocols/reports/aggregate-report.ts'
import { openTlsReports } from '../../../src/protocols/reports/tls-report.ts'
import { isReport, unpack, type Unpacked } from '../../../src/protocols/reports/unpack.ts'

export type Outcome = {
  outcomes: string[]
  milliseconds: number
  cpuMilliseconds: number
  maxRss: number
}

async function outcomeOf(item: Unpacked): Promise<string> {
  if (!isReport(item)) return item.reason
  try {
    if (item.kind === 'failure') return 'failure report'
    if (item.kind === 'tls')
      return `${(await openTlsReports(item.open()).next())?.policies.length} policies`
    return `${(await readReport(openReports(item.open())))?.recordCount} records`
  } catch (error) {
    return (error as Error).message
  }
}

/**
 * Peak memory in bytes. A process starts with the maximum of its parent, so Linux is asked for this
 * program’s own.
 */
function mostMemory(): number {
  const status = existsSync('/proc/self/status') ? readFileSync('/proc/self/status', 'utf8') : ''
  return Number(/VmHWM:\s*(\d+) kB/.exec(status)?.[1] ?? process.resourceUsage().maxRSS) * 1024
}

const started = performance.now()
const outcomes: string[] = []
for await (const item of unpack(readFileSync(process.argv[2] ?? '')))
  outcomes.push(await outcomeOf(item))
const milliseconds = Math.round(performance.now() - started)
const { user, system } = process.cpuUsage()
const outcome: Outcome = {
  outcomes: [...new Set(outcomes)],
  milliseconds,
  cpuMilliseconds: Math.round((user + system) / 1_000),
  maxRss: mostMemory(),
}
console.log(JSON.stringify(outcome))
