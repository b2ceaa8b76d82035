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

/** Processor time of a process and of all processes that it has started. */
export function processorSecondsOf(root: number): number {
  const all = listProcesses()
  const tree = new Set([root])
  // Process numbers start again at some point, so a child may have a smaller one.
  for (let known = 0; known < tree.size;) {
    known = tree.size
    for (const { pid, parent } of all) if (tree.has(parent)) tree.add(pid)
  }
  return all
    .filter(({ pid }) => tree.has(pid))
    .reduce((sum, { seconds, endedSeconds }) => sum + seconds + endedSeconds, 0)
}

/** Starts a server, and adds the processor time of the processes that it started. */
export async function startMeasured<Server extends object>(
  start: () => Promise<Server>,
): Promise<Server & { processorSeconds: () => number }> {
  const children = () =>
    listProcesses()
      .filter(({ parent }) => parent === process.pid)
      .map(({ pid }) => pid)
  const before = new Set(children())
  const server = await start()
  const pids = children().filter((pid) => !before.has(pid))
  return Object.assign(server, {
    processorSeconds: () => pids.reduce((sum, pid) => sum + processorSecondsOf(pid), 0),
  })
}
