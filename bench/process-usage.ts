// What processes use, as Linux counts it (proc(5)).
import { readdirSync, readFileSync } from 'node:fs'

/** Unit of the processor times in /proc. */
const TICKS_PER_SECOND = 100

export type ProcessUsage = {
  pid: number
  name: string
  parent: number
  /** Processor time in user and system mode. */
  seconds: number
  /** The same of its child processes that have ended. */
  endedSeconds: number
}

/** Lists all processes that run now. */
export function listProcesses(): ProcessUsage[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [processUsage(Number(pid))]
      } catch {
        // The process has ended.
        return []
      }
    })
}

/** @throws the system’s error when the process has ended */
export function processUsage(pid: number): ProcessUsage {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const end = text.lastIndexOf(')')
  const fields = text
    .slice(end + 2)
    .split(' ')
    .map(Number)
  const seconds = (from: number) =>
    ((fields[from] ?? 0) + (fields[from + 1] ?? 0)) / TICKS_PER_SECOND
  return {
    pid,
    name: text.slice(text.indexOf('(') + 1, end),
    parent: fields[1] ?? 0,
    seconds: seconds(11),
    endedSeconds: seconds(13),
  }
}

/** Resident megabytes of a process now (`VmRSS`) or at most (`VmHWM`). */
export function memoryMb(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Math.round(Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) / 1024)
}
