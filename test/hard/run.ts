import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Figure } from './figures.ts'

/**
 * Minutes for the whole run, and for chosen tests. Unfinished tests are stopped, and the figures so
 * far are printed.
 */
const MINUTES = { all: 20, chosen: 60 }

/** It builds three images, which takes as long as all others together. */
const ONLY_CHOSEN = ['--exclude', 'test/hard/container.hard.ts']

/** Seconds to stop gracefully, with the started servers. */
const GRACE = 20

const vitest = join(import.meta.dirname, '../../node_modules/vitest/vitest.mjs')
const config = join(import.meta.dirname, 'vitest.config.ts')

/**
 * Runs the hard tests, all but that of containers, or those whose file has one of these words in its name. @returns the
 * exit code
 */
async function run(words: string[]): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'portreeve-figures-'))
  const file = join(folder, 'figures.jsonl')
  const begun = performance.now()
  // A separate process group: everything that the tests start ends with it.
  const chosen = words.length > 0 ? words : ONLY_CHOSEN
  const child = spawn(process.execPath, [vitest, 'run', '--config', config, ...chosen], {
    stdio: 'inherit',
    detached: true,
    env: { ...process.env, PORTREEVE_FIGURES: file },
  })
  const ended = once(child, 'exit') as Promise<[number | null]>
  const ofGroup = (signal: NodeJS.Signals) => {
    try {
      process.kill(-(child.pid ?? 0), signal)
    } catch {
      // Every process has ended.
    }
  }
  const stop = Promise.withResolvers<string>()
  const minutesAtMost = words.length > 0 ? MINUTES.chosen : MINUTES.all
  const timer = setTimeout(stop.resolve, minutesAtMost * 60_000, `after ${minutesAtMost} minutes`)
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => stop.resolve(`by ${signal}`))
  const stopped = await Promise.race([ended.then(() => null), stop.promise])
  clearTimeout(timer)
  if (stopped !== null) {
    ofGroup('SIGTERM')
    await Promise.race([ended, sleep(GRACE * 1_000)])
    ofGroup('SIGKILL')
  }
  const [code] = await ended
  console.log(tableOf(existsSync(file) ? readFileSync(file, 'utf8') : ''))
  const minutes = ((performance.now() - begun) / 60_000).toFixed(1)
  console.log(
    stopped === null
      ? `\nAll of it in ${minutes} minutes.`
      : `\nStopped ${stopped}: not all of it ran.`,
  )
  rmSync(folder, { recursive: true })
  return stopped === null ? (code ?? 1) : 1
}

function tableOf(lines: string): string {
  const rows = lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Figure)
  const cells = rows.map(({ what, outcome, test }) => `| ${what} | ${outcome} | \`${test}\` |`)
  return [
    '',
    '| what is done | what comes of it | test |',
    '| --- | --- | --- |',
    ...cells.toSorted(),
  ].join('\n')
}

process.exitCode = await run(process.argv.slice(2))
