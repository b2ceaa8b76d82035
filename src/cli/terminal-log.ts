import type { Config } from '../config.ts'
import { createLog, type Logger } from '../log.ts'
import { paint, sanitizeForTerminal } from './terminal-text.ts'

/** Whether the log is text for people: as LOG_FORMAT says, by default at a terminal. */
export function isText(
  { LOG_FORMAT }: Pick<Config, 'LOG_FORMAT'>,
  out: NodeJS.WriteStream,
): boolean {
  return LOG_FORMAT === 'text' || (LOG_FORMAT === 'auto' && out.isTTY)
}

/** The log of a command on standard error: standard output belongs to its result. */
export function createCommandLog(config: Pick<Config, 'LOG_FORMAT'>, level = 'warn'): Logger {
  if (!isText(config, process.stderr)) return createLog(level, process.stderr)
  return createTextLog(level, process.stderr).log
}

export type TextLog = {
  log: Logger
  /** From now on, hides lines without a problem, such as requests. */
  showWarningsOnly(): void
  /** Sets a function that is called after each line. */
  onLine(written: () => void): void
}

/**
 * A log of sentences, for people at a terminal.
 * @param isHidden messages that are never shown
 */
export function createTextLog(
  level: string,
  out: NodeJS.WriteStream,
  isHidden = (_message: string) => false,
): TextLog {
  let written = () => {}
  const write = (line: string) => {
    const entry = JSON.parse(line) as LogEntry
    if (isHidden(entry.msg ?? '')) return
    out.write(`${textOf(entry, out)}\n`)
    written()
  }
  const log = createLog(level, { write })
  return {
    log,
    showWarningsOnly() {
      if (log.isLevelEnabled('info') && !log.isLevelEnabled('debug')) log.level = 'warn'
    },
    onLine: (listener) => void (written = listener),
  }
}

/** A log line of pino. */
type LogEntry = {
  level: number
  time: string
  msg?: string
  err?: { message?: string }
  [field: string]: unknown
}

/** pino’s numbers of the levels `warn` and `error`. */
const LEVELS = { warn: 40, error: 50 }

/** Longer values, such as the output of a program, are in the JSON log only. */
const MAX_VALUE_LENGTH = 200

function textOf(
  { level, time, msg = '', err, ...fields }: LogEntry,
  out: NodeJS.WriteStream,
): string {
  const clock = paint('dim', new Date(time).toTimeString().slice(0, 8), out)
  const sentence = [capitalized(msg), err?.message].filter(Boolean).join(': ')
  return `${clock}  ${labelOf(level, out)}${sanitizeForTerminal(sentence)}${detailsOf(fields)}`
}

function labelOf(level: number, out: NodeJS.WriteStream): string {
  if (level >= LEVELS.error) return paint(['bold', 'red'], 'Error: ', out)
  return level >= LEVELS.warn ? paint('yellow', 'Warning: ', out) : ''
}

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** Fields with a short value, as ` (name: value, …)`. */
function detailsOf(fields: Record<string, unknown>): string {
  const shown = Object.entries(fields)
    .filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
    .filter(([, value]) => String(value).length <= MAX_VALUE_LENGTH)
    .map(([name, value]) => `${name}: ${sanitizeForTerminal(String(value))}`)
  return shown.length === 0 ? '' : ` (${shown.join(', ')})`
}
