// From start to ready, and the memory of the whole tree of processes, as `portreeve serve` is run: from
// the sources, or the installed package whose folder is in PORTREEVE.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const STARTS = 7
const PORT = '18473'
const FOLDER = process.env['PORTREEVE'] ?? join(import.meta.dirname, '..', '..')
const PROGRAM = join(FOLDER, 'bin', 'portreeve.js')

/** Takes some 40 seconds. Returns the printed table. */
export async function run(): Promise<string> {
  const first: number[] = []
  const later: number[] = []
  const memory: { node: number; postgres: number }[] = []
  for (let i = 0; i < 3; i++) {
    const folder = mkdtempSync(join(tmpdir(), 'portreeve-bench-'))
    first.push(await startAndStop(folder))
    for (let j = 0; j < STARTS; j++) later.push(await startAndStop(folder, memory))
    rmSync(folder, { recursive: true })
  }
  return [
    '| start to `/readyz` | median s | slowest s |',
    '|---|---|---|',
    `| first start, with initdb | ${inSeconds(first)} |`,
    `| existing data folder | ${inSeconds(later)} |`,
    '',
    `Memory when ready (proportional set size, median): Node ${middle(memory.map((m) => m.node))} MB, PostgreSQL ${middle(memory.map((m) => m.postgres))} MB.`,
  ].join('\n')
}

async function startAndStop(
  folder: string,
  memory?: { node: number; postgres: number }[],
): Promise<number> {
  const begun = performance.now()
  const env = {
    PATH: process.env['PATH'],
    DATA_DIR: folder,
    PORT,
    SMTP_LISTEN: 'off',
    LOG_LEVEL: 'warn',
    REQUEST_LIMITS: 'off',
  }
  const child = spawn(process.execPath, [PROGRAM, 'serve'], { env, cwd: tmpdir(), stdio: 'ignore' })
  await ready(child)
  const took = performance.now() - begun
  if (memory) {
    await sleep(1_000)
    memory.push({
      node: megabytes([child.pid ?? 0]),
      postgres: megabytes(descendants(child.pid ?? 0)),
    })
  }
  child.kill('SIGTERM')
  await once(child, 'exit')
  return took
}

async function ready(child: ChildProcess): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`the service ended with ${child.exitCode}`)
    const response = await fetch(`http://localhost:${PORT}/readyz`).catch(() => null)
    if (response?.ok) return
    await sleep(5)
  }
}

function descendants(pid: number): number[] {
  const children = globSync(`/proc/${pid}/task/*/children`).flatMap((file) =>
    readFileSync(file, 'utf8').split(' ').filter(Boolean).map(Number),
  )
  return children.flatMap((child) => [child, ...descendants(child)])
}

function megabytes(pids: number[]): number {
  const kilobytes = pids.map((pid) =>
    Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0),
  )
  return Math.round(kilobytes.reduce((sum, each) => sum + each, 0) / 1024)
}

function middle(figures: number[]): number {
  return figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)] ?? Number.NaN
}

function inSeconds(figures: number[]): string {
  return `${(middle(figures) / 1000).toFixed(2)} | ${(Math.max(...figures) / 1000).toFixed(2)}`
}

if (import.meta.main) console.log(await run())
