import { stripVTControlCharacters } from 'node:util'
import type { Progress } from '../migration/progress.ts'
import { foreign, pad, paint, width } from './text.ts'

/** Lines at the bottom of a terminal that are written over and over; where there is none, a line now and then. */
export type Bars = { show(progress: Progress): void; end(): void }

const BAR = 24
const MOST_FOLDERS = 8
const NAME = 28

/** Milliseconds between two lines where nothing can be written over. */
const LINE_EVERY = 10_000

export function createBars(out: NodeJS.WriteStream): Bars {
  let lines = 0
  let lastLine = 0

  function clear(): void {
    if (lines > 0) out.write(`\u001b[${lines}A\u001b[J`)
    lines = 0
  }

  return {
    show(progress) {
      if (out.isTTY) {
        clear()
        const shown = [...foldersOf(progress), totalOf(progress)]
        lines = shown.length
        out.write(`${shown.map((line) => cut(line, out.columns)).join('\n')}\n`)
      } else if (Date.now() - lastLine >= LINE_EVERY) {
        lastLine = Date.now()
        out.write(`${totalOf(progress)}\n`)
      }
    },
    end: clear,
  }
}

function foldersOf({ folderProgress }: Progress): string[] {
  const busy = Object.entries(folderProgress).filter(([, { doneCount, total }]) => doneCount > 0 && doneCount < total)
  return busy.slice(0, MOST_FOLDERS).map(([path, { doneCount, total, bytes }]) => {
    return `${pad(shorten(foreign(path)), NAME)} ${bar(doneCount, total)} ${counts(doneCount, total)}  ${sizeText(bytes)}`
  })
}

function totalOf(progress: Progress): string {
  const { messagesDone, messagesTotal, foldersDone, foldersTotal, bytesDone, messagesPerSecond, etaSeconds } = progress
  const name = paint('bold', pad(`${foldersDone} of ${foldersTotal} folders`, NAME))
  const rate = `${sizeText(bytesDone)}  ${Math.round(messagesPerSecond)}/s`
  return `${name} ${bar(messagesDone, messagesTotal)} ${counts(messagesDone, messagesTotal)}  ${rate}  ${whenDone(progress.throttledUntil, etaSeconds)}`
}

function whenDone(throttledUntil: string | null, etaSeconds: number | null): string {
  if (throttledUntil !== null) return `waiting until ${throttledUntil.slice(11, 19)} UTC, as the server asked`
  return etaSeconds === null ? '' : `${timeText(etaSeconds)} left`
}

function bar(done: number, total: number): string {
  const share = total === 0 ? 1 : Math.min(1, done / total)
  const full = Math.floor(share * BAR)
  const percent = `${Math.floor(share * 100)}%`.padStart(4)
  return `${paint('green', '█'.repeat(full))}${paint('dim', '░'.repeat(BAR - full))} ${percent}`
}

function counts(done: number, total: number): string {
  return `${numberText(done)} / ${numberText(total)}`
}

export function numberText(number: number): string {
  return number.toLocaleString('en-US')
}

/** Bytes as people read them. */
export function sizeText(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB']
  const step = bytes < 1_000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  return `${(bytes / 1_000 ** step).toFixed(step === 0 ? 0 : 1)} ${units[step]}`
}

export function timeText(seconds: number): string {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)]
  if (hours > 0) return `${hours} h ${minutes} min`
  return minutes > 0 ? `${minutes} min ${Math.floor(seconds % 60)} s` : `${Math.floor(seconds)} s`
}

function shorten(name: string): string {
  const characters = Array.from(name)
  return characters.length > NAME ? `…${characters.slice(1 - NAME).join('')}` : name
}

/** A line that wraps could not be written over. Colours are given up first. */
function cut(line: string, columns: number): string {
  if (width(line) < columns) return line
  return Array.from(stripVTControlCharacters(line))
    .slice(0, columns - 1)
    .join('')
}
