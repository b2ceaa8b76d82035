import { hash } from 'node:crypto'
import { closeSync, openSync, readSync } from 'node:fs'
import { fillWithCrlf } from './bare-ends.ts'
import { changedError, fillFrom, readFrom } from './file-part.ts'
import {
  cleanHeader,
  dateInHeader,
  internalDateOf,
  isClean,
  parseHeader,
  stateOf,
} from './header.ts'
import { withCrlf } from './line-ends.ts'
import { scanMbox, type MboxEntry } from './mbox-scan.ts'
import type { FoundMessage } from './found-message.ts'
import { shareFile } from './shared-file.ts'

/**
 * Reads the messages of an mbox file, but not those that Thunderbird has deleted.
 * @param start where a message begins
 */
export function* readMbox(path: string, start = 0): Generator<FoundMessage> {
  const file = shareFile(path)
  for (const entry of scanMbox(path, start)) {
    const fields = parseHeader(entry.header)
    const { flags, isExpunged } = stateOf(fields)
    if (isExpunged) continue
    const header = cleanHeader(entry.header)
    const labels = fields.first('x-gmail-labels')
    const { headerStart, bodyStart, end, bodySize, lineEnd, isQuoted, hasBareEnds } = entry
    const place = { headerStart, bodyStart, end, lineEnd, isQuoted, hasBareEnds }
    const canFill = lineEnd === 'lf' && !isQuoted
    const fill = isClean(entry.header) ? fillEntry : fillUncleanEntry
    yield {
      key: `${header.length + bodySize}-${entry.bodyCrc.toString(36)}-${digestOf(header)}`,
      size: header.length + bodySize,
      flags,
      date: dateInFromLine(entry.fromLine) ?? dateInHeader(fields),
      messageId: fields.first('message-id'),
      labels,
      read: () => readEntry(path, place),
      fill: canFill ? (target) => file.read((fd) => fill(fd, place, target)) : null,
    }
  }
}

type Place = Pick<
  MboxEntry,
  'headerStart' | 'bodyStart' | 'end' | 'lineEnd' | 'isQuoted' | 'hasBareEnds'
>

/** The parts of a message are valid until the next one. */
function* readEntry(path: string, place: Place): Generator<Buffer> {
  const { headerStart, bodyStart, end, lineEnd, isQuoted, hasBareEnds } = place
  const fd = openSync(path, 'r')
  try {
    const header = Buffer.allocUnsafe(bodyStart - headerStart)
    const length = readSync(fd, header, 0, header.length, headerStart)
    yield cleanedOf(header.subarray(0, length))
    const body = readFrom(fd, bodyStart, end)
    yield* hasBareEnds || isQuoted ? withCrlf(body, lineEnd, isQuoted) : body
  } finally {
    closeSync(fd)
  }
}

/** Reads a message that needs no other conversion than that of its line ends. */
function fillEntry(fd: number, { headerStart, end }: Place, target: Buffer): void {
  fillPart(fd, headerStart, end, target)
}

/** Reads a message whose header needs more. */
function fillUncleanEntry(fd: number, place: Place, target: Buffer): void {
  const { headerStart, bodyStart, end } = place
  const raw = Buffer.allocUnsafe(bodyStart - headerStart)
  fillFrom(fd, raw, headerStart)
  const header = cleanedOf(raw)
  if (header.length > target.length) throw changedError()
  header.copy(target)
  fillPart(fd, bodyStart, end, target.subarray(header.length))
}

/** Reads a part of a file. Its size shows whether line ends have to be converted. */
function fillPart(fd: number, start: number, end: number, target: Buffer): void {
  if (end - start === target.length) fillFrom(fd, target, start)
  else fillWithCrlf(fd, start, end, target)
}

const cleanedOf = (header: Buffer) => Buffer.from(cleanHeader(header.toString('latin1')), 'latin1')

const digestOf = (header: string) =>
  hash('sha256', Buffer.from(header, 'latin1'), 'base64url').slice(0, 16)

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/**
 * The date of a line such as `From a@b Tue Jan  2 03:04:05 2024`, with a zone or in UTC.
 * Thunderbird’s `From - …` has the time of the download, and counts only where nothing else is.
 */
export function dateInFromLine(line: string): string | null {
  if (line.startsWith('From -')) return null
  const match =
    /\b([A-Z][a-z]{2}) +(\d{1,2}) +(\d{1,2}):(\d{2})(?::(\d{2}))?(?: +([+-]\d{4}|[A-Z]{1,4}))?(?: +([A-Z]{1,4}))? +(\d{4})(?: +([+-]\d{4}))?/.exec(
      line,
    )
  if (!match) return null
  const [, month = '', day, hour, minute, second = '0', before, , year, after] = match
  const zone = after ?? (before?.startsWith('+') || before?.startsWith('-') ? before : '+0000')
  const offset =
    (Number(zone.slice(1, 3)) * 60 + Number(zone.slice(3))) * (zone[0] === '-' ? -1 : 1)
  const parts = [year, MONTHS.indexOf(month), day, hour, minute, second].map(Number)
  const moment = Date.UTC(...(parts as [number, number, number, number, number, number]))
  if (parts[1] === -1 || Number.isNaN(moment) || moment < 0) return null
  return internalDateOf(moment - offset * 60_000)
}
