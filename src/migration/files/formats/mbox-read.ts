import { closeSync, openSync, readSync } from 'node:fs'
import { fillWithCrlf } from './bare-ends.ts'
import { changedError, fillFrom, readFrom, readWhole } from './file-part.ts'
import {
  cleanHeader,
  dateInHeader,
  hasState,
  headerIn,
  internalDateOf,
  isClean,
  isFolderData,
  MAX_HEADER_BYTES,
  parseHeader,
  stateOf,
} from './header.ts'
import { withCrlf } from './line-ends.ts'
import { scanMbox, type MboxEntry } from './mbox-scan.ts'
import { digestOf, type FoundMessage } from './found-message.ts'
import { shareFile } from './shared-file.ts'

/**
 * Reads the messages of an mbox file, but not those that Thunderbird has deleted.
 * @param start where a message begins
 * @param leave called for each message that is left out, with the reason
 */
export function* readMbox(
  path: string,
  start = 0,
  leave: (reason: string) => void = () => undefined,
): Generator<FoundMessage> {
  const file = shareFile(path)
  for (const entry of scanMbox(path, start)) {
    const stored = parseHeader(entry.header)
    const { flags, isExpunged } = stateOf(stored)
    const { headerStart, bodyStart, end, bodySize, lineEnd, isQuoted, hasBareEnds } = entry
    // Fields of an export are no part of the message, whose own fields say nothing about its state.
    const header = entry.isCounted ? '' : cleanHeader(entry.header)
    const fields = entry.isCounted ? parseHeader(headerAt(path, bodyStart, end)) : stored
    if (isExpunged) {
      leave('Deleted in Thunderbird, but not compacted yet.')
      continue
    }
    if (!entry.isCounted && isFolderData(fields)) {
      leave('Data of the folder in the form of a message, as UW IMAP stores it.')
      continue
    }
    const place = { headerStart, bodyStart, end, lineEnd, isQuoted, hasBareEnds }
    const canFill = lineEnd === 'lf' && !isQuoted
    const fill = entry.isCounted || isClean(entry.header) ? fillEntry : fillUncleanEntry
    const isPlaced = hasState(stored) || entry.fromLine.startsWith('From -')
    yield {
      key: `${header.length + bodySize}-${entry.bodyCrc.toString(36)}-${digestOf(Buffer.from(header, 'latin1'))}`,
      size: header.length + bodySize,
      flags,
      date: dateInFromLine(entry.fromLine) ?? dateInHeader(fields),
      messageId: fields.first('message-id'),
      labels: isPlaced ? null : fields.first('x-gmail-labels'),
      read: () => readEntry(path, place),
      fill: canFill ? (target) => file.read((fd) => fill(fd, place, target)) : null,
    }
  }
}

/** The header of a message of which all bytes are counted. */
function headerAt(path: string, start: number, end: number): string {
  const beginning = readWhole(path, start, Math.min(end, start + MAX_HEADER_BYTES))
  return headerIn(beginning.toString('latin1'))
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

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** Hours east of UTC, by the names of zones that have one meaning in mail. */
const ZONE_HOURS = new Map(
  [
    'UTC 0, GMT 0, UT 0, Z 0, WET 0, BST 1, WEST 1, CET 1, MET 1, MEZ 1, CEST 2, MEST 2, MESZ 2, EET 2',
    'EEST 3, MSK 3, JST 9, KST 9, AEST 10, AEDT 11, NZST 12, NZDT 13, EDT -4, EST -5, CDT -5, CST -6',
    'MDT -6, MST -7, PDT -7, PST -8, AKDT -8, AKST -9, HST -10',
  ]
    .flatMap((line) => line.split(', '))
    .map((zone): [string, number] => [zone.replace(/ .*/, ''), Number(zone.replace(/.* /, ''))]),
)

/**
 * The date of a line such as `From a@b Tue Jan  2 03:04:05 2024`, with a zone or in UTC.
 * Thunderbird’s `From - …` has the time of the download, and counts only where nothing else is.
 */
export function dateInFromLine(line: string): string | null {
  if (line.startsWith('From -')) return null
  const match =
    /\b([A-Z][a-z]{2}) +(\d{1,2}) +(\d{1,2}):(\d{2})(?::(\d{2}))?(?: +([+-]\d{4}|[A-Z]{1,5}))?(?: +([+-]\d{4}|[A-Z]{1,5}))? +(\d{4})(?: +([+-]\d{4}|[A-Z]{1,5})\b)?/.exec(
      line,
    )
  if (!match) return null
  const [, month = '', day, hour, minute, second = '0', before, other, year, after] = match
  const offsets = [before, other, after].flatMap((zone) => (zone ? offsetOf(zone) : []))
  // The time of an unknown zone can be wrong by a day.
  if (offsets.includes(null)) return null
  const parts = [year, MONTHS.indexOf(month), day, hour, minute, second].map(Number)
  const moment = Date.UTC(...(parts as [number, number, number, number, number, number]))
  if (parts[1] === -1 || Number.isNaN(moment) || moment < 0) return null
  return internalDateOf(moment - (offsets[0] ?? 0) * 60_000)
}

/** Minutes east of UTC; null for an unknown name. */
function offsetOf(zone: string): number | null {
  if (!/^[+-]/.test(zone)) {
    const hours = ZONE_HOURS.get(zone)
    return hours === undefined ? null : hours * 60
  }
  return (Number(zone.slice(1, 3)) * 60 + Number(zone.slice(3))) * (zone[0] === '-' ? -1 : 1)
}
