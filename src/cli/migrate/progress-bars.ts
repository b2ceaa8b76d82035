import { stripVTControlCharacters } from 'node:util'
import type { MigrationProgress } from '../../migration/engine/progress/progress.ts'
import { sizeText } from '../../migration/engine/plan/size-text.ts'
import { sanitizeForTerminal, pad, paint, width } from '../terminal-text.ts'
import { HOUR_SECONDS } from '../../time.ts'

/** Progress belongs to standard error. */
const OUT = process.stderr

/** Progress lines at the bottom of a terminal; without a terminal, a line every ten seconds. */
export type Bars = { show(progress: MigrationProgress): void; end(): void }

const BAR_COLUMNS = 24
const MAX_FOLDERS = 8
const NAME_COLUMNS = 28

/** Time between two lines without a terminal. */
const LINE_EVERY_MS = 10_000

export function createBars(out: NodeJS.WriteStream): Bars {
  let lines = 0
  let lastLine = 0
  const warned = new Set<string>()

  function clear(): void {
    if (lines > 0) out.write(`\u001b[${lines}A\u001b[J`)
    lines = 0
  }

  return {
    show(progress) {
      for (const { code, message } of progress.warnings) {
        if (warned.has(code)) continue
        warned.add(code)
        clear()
        out.write(`${paint('yellow', 'Note:', out)} ${sanitizeForTerminal(message)}\n`)
      }
      if (out.isTTY) {
        clear()
        const shown = [...foldersOf(progress), totalOf(progress)]
        lines = shown.length
        out.write(`${shown.map((line) => cut(line, out.columns)).join('\n')}\n`)
      } else if (Date.now() - lastLine >= LINE_EVERY_MS) {
        lastLine = Date.now()
        out.write(`${totalOf(progress)}\n`)
      }
    },
    end: clear,
  }
}

function foldersOf({ folderProgress }: MigrationProgress): string[] {
  const busy = Object.entries(folderProgress).filter(
    ([, { doneCount, total }]) => doneCount > 0 && doneCount < total,
  )
  return busy.slice(0, MAX_FOLDERS).map(([path, { doneCount, total, bytes, bytesTotal }]) => {
    const share = shareOf({ done: doneCount, total, bytes, bytesTotal })
    return `${pad(shorten(sanitizeForTerminal(path)), NAME_COLUMNS)} ${bar(share)} ${counts(doneCount, total)}  ${sizes(bytes, bytesTotal)}`
  })
}

function totalOf(progress: MigrationProgress): string {
  const { messagesDone: done, messagesTotal: total, bytesDone: bytes, bytesTotal } = progress
  const name = paint(
    'bold',
    pad(`${progress.foldersDone} of ${progress.foldersTotal} folders`, NAME_COLUMNS),
    OUT,
  )
  const rate = `${Math.round(progress.messagesPerSecond)}/s  ${sizeText(progress.bytesPerSecond)}/s`
  const amounts = `${counts(done, total)}  ${sizes(bytes, bytesTotal)}`
  return `${name} ${bar(shareOf({ done, total, bytes, bytesTotal }))} ${amounts}  ${rate}  ${whenDone(progress)}`
}

type Amounts = { done: number; total: number; bytes: number; bytesTotal: number | null }

/**
 * The share by bytes where they are known. Some servers only estimate sizes, so messages decide
 * when all is done.
 */
function shareOf({ done, total, bytes, bytesTotal }: Amounts): number {
  if (done >= total) return 1
  return Math.min(bytesTotal ? bytes / bytesTotal : done / total, 0.999)
}

function whenDone({ throttledUntil, etaSeconds }: MigrationProgress): string {
  if (throttledUntil !== null)
    return `rate-limited by the server until ${throttledUntil.slice(11, 19)} UTC`
  return etaSeconds === null ? '' : `${timeText(etaSeconds)} left`
}

/** A bar for a share from 0 to 1. */
export function bar(share: number): string {
  const full = Math.floor(share * BAR_COLUMNS)
  const percent = `${Math.floor(share * 100)}%`.padStart(4)
  const rest = '░'.repeat(BAR_COLUMNS - full)
  return `${paint('green', '█'.repeat(full), OUT)}${paint('dim', rest, OUT)} ${percent}`
}

function counts(done: number, total: number): string {
  return `${countText(done)} / ${countText(total)}`
}

function sizes(bytes: number, bytesTotal: number | null): string {
  return bytesTotal === null ? sizeText(bytes) : `${sizeText(bytes)} / ${sizeText(bytesTotal)}`
}

export function countText(number: number): string {
  return number.toLocaleString('en-US')
}

export function timeText(seconds: number): string {
  const [hours, minutes] = [
    Math.floor(seconds / HOUR_SECONDS),
    Math.floor((seconds % HOUR_SECONDS) / 60),
  ]
  if (hours > 0) return `${hours} h ${minutes} min`
  return minutes > 0 ? `${minutes} min ${Math.floor(seconds % 60)} s` : `${Math.floor(seconds)} s`
}

function shorten(name: string): string {
  const characters = Array.from(name)
  return characters.length > NAME_COLUMNS ? `…${characters.slice(1 - NAME_COLUMNS).join('')}` : name
}

/**
 * Cuts a line to the terminal: a wrapped line could not be overwritten. The cut removes its
 * colours.
 */
function cut(line: string, columns: number): string {
  if (width(line) < columns) return line
  return Array.from(stripVTControlCharacters(line))
    .slice(0, columns - 1)
    .join('')
}
