import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import autocannon from 'autocannon'

export type Figures = { perSecond: number; p50: number; p99: number; failed: number }

const CONNECTIONS = 64
const WRK = '/usr/bin/wrk'
const BODY = JSON.stringify({ event: 'order.created', id: 4711, note: 'x'.repeat(980) })

/**
 * The load generator: Debian’s wrk, which leaves more of the machine to the measured processes, or
 * else autocannon.
 */
export const SENDER = existsSync(WRK)
  ? 'wrk'
  : 'autocannon (the Debian package wrk is not installed: the figures are lower)'

/** Sends POSTs of 1 kB over 64 connections for a number of seconds. */
export function load(url: string, seconds: number): Promise<Figures> {
  return SENDER === 'wrk' ? withWrk(url, seconds) : withAutocannon(url, seconds)
}

async function withWrk(url: string, seconds: number): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'portreeve-bench-'))
  const script = join(folder, 'post.lua')
  writeFileSync(
    script,
    `wrk.method="POST"\nwrk.body=[[${BODY}]]\nwrk.headers["Content-Type"]="application/json"\n`,
  )
  const args = ['-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '--latency', '-s', script, url]
  const { stdout } = await promisify(execFile)(WRK, args)
  rmSync(folder, { recursive: true })
  const [, perSecond] = /Requests\/sec:\s+([\d.]+)/.exec(stdout) ?? []
  const [, failed] = /Non-2xx or 3xx responses: (\d+)/.exec(stdout) ?? []
  return {
    perSecond: Number(perSecond),
    p50: quantile(stdout, 50),
    p99: quantile(stdout, 99),
    failed: Number(failed ?? 0),
  }
}

function quantile(text: string, percent: number): number {
  const [, value, unit] = new RegExp(`${percent}%\\s+([\\d.]+)(us|ms|s)\\s`).exec(text) ?? []
  return Number(value) * ({ us: 0.001, ms: 1, s: 1000 }[unit ?? 'ms'] ?? 1)
}

async function withAutocannon(url: string, duration: number): Promise<Figures> {
  const headers = { 'content-type': 'application/json' }
  const result = await autocannon({
    url,
    method: 'POST',
    body: BODY,
    headers,
    connections: CONNECTIONS,
    duration,
  })
  return {
    perSecond: result.requests.average,
    p50: result.latency.p50,
    p99: result.latency.p99,
    failed: result.non2xx + result.errors,
  }
}
