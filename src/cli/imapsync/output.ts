import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { MessageCopy } from '../../migration/engine/context.ts'
import type { MigrationProgress } from '../../migration/engine/progress/progress.ts'
import { sanitizeForTerminal } from '../terminal-text.ts'
import type { Arguments } from './parse-arguments.ts'
import { EXIT_VALUES, type Exit } from './exit-values.ts'

/** Prints lines to standard output and, where requested, to a log file. */
export type Output = { print(line: string): void; close(): void }

export function createOutput(args: Arguments | null): Output {
  const file = args && logFileOf(args)
  let fd: number | undefined
  if (file) {
    mkdirSync(dirname(file), { recursive: true })
    fd = openSync(file, 'a', 0o600)
  }
  return {
    print(line) {
      process.stdout.write(`${line}\n`)
      if (fd !== undefined) writeSync(fd, `${line}\n`)
    },
    close() {
      if (fd !== undefined) closeSync(fd)
      fd = undefined
    },
  }
}

function logFileOf(args: Arguments): string | null {
  const name = args.valueOf('logfile')
  if (args.switchOf('log') === false || (name === undefined && !args.switchOf('log'))) return null
  return join(args.valueOf('logdir') ?? '.', name ?? `imapsync_${process.pid}.log`)
}

/** Everything that the statistics show. */
export type Summary = {
  began: Date
  ended: Date
  /** Copied in this run. */
  messages: number
  bytes: number
  isDry: boolean
  /** Null when the run ended before the folders were listed. */
  progress: MigrationProgress | null
  deleted: { source: number; destination: number }
  errors: number
  /** Skipped although the message at the destination has other content. */
  differing: number
}

/** A line for a copied message, with the rate since the beginning. */
export function copyLine(
  { folder, uid, destination, to }: MessageCopy,
  { messages, bytes, began, progress }: Summary,
): string {
  const seconds = Math.max(0.001, (Date.now() - began.getTime()) / 1_000)
  const left = progress ? Math.max(0, progress.messagesTotal - progress.messagesDone) : 0
  const total = progress?.messagesTotal ?? messages
  const rate = messages / seconds
  const eta = rate > 0 ? left / rate : 0
  const names = [folder, destination].map(sanitizeForTerminal)
  return `msg ${names[0]}/${String(uid).padEnd(19)} copied to ${names[1]}/${String(to ?? '').padEnd(10)} ${rate.toFixed(2)} msgs/s  ${sizeOf(bytes / seconds)}/s ${sizeOf(bytes)} copied ETA: ${new Date(Date.now() + eta * 1_000).toString().slice(0, 24)}  ${eta.toFixed(0)} s  ${left}/${total} msgs left`
}

/** The statistics that control panels read. */
export function statisticsLines(summary: Summary): string[] {
  const { began, ended, messages, bytes, isDry, progress, deleted, errors } = summary
  const seconds = (ended.getTime() - began.getTime()) / 1_000
  const waiting = progress ? Math.max(0, progress.messagesTotal - progress.messagesDone) : 0
  const couldBe = isDry ? `(could be ${progress?.messagesTotal ?? 0} without dry mode)` : ''
  const rows: [string, string | number][] = [
    ['Transfer started on', began.toString().slice(0, 33)],
    ['Transfer ended on', ended.toString().slice(0, 33)],
    ['Transfer time', `${seconds.toFixed(1)} sec`],
    ['Folders synced', `${progress?.foldersDone ?? 0}/${progress?.foldersTotal ?? 0} synced`],
    ['Messages transferred', `${messages} ${couldBe}`],
    ['Messages skipped', progress?.skippedByDedup ?? 0],
    ['Messages found in host1 not in host2', `${isDry ? 0 : waiting} messages`],
    ['Messages deleted on host1', deleted.source],
    ['Messages deleted on host2', deleted.destination],
    ['Total bytes transferred', `${bytes} (${sizeOf(bytes)})`],
    ['Message rate', `${(seconds > 0 ? messages / seconds : 0).toFixed(1)} messages/s`],
    ['Average bandwidth rate', `${(seconds > 0 ? bytes / 1_024 / seconds : 0).toFixed(1)} KiB/s`],
  ]
  return [
    '++++ Statistics',
    ...rows.map(([label, value]) => `${label.padEnd(40)}: ${value}`),
    resultLine(summary),
    `Detected ${errors} errors`,
  ]
}

function resultLine({ progress, errors, isDry, differing }: Summary): string {
  const total = progress?.messagesTotal ?? 0
  if (isDry) return `The sync was not done: this was a dry run with ${total} messages in host1.`
  const missing = progress ? total - progress.messagesDone + progress.errorCount : 0
  if (progress !== null && errors === 0 && missing === 0 && differing > 0)
    return `The sync is finished, all ${total} identified messages in host1 are on host2 by Message-ID, ${differing} of them with other content.`
  if (progress !== null && errors === 0 && missing === 0)
    return `The sync looks good, all ${total} identified messages in host1 are on host2.`
  return `The sync is not finished, there are ${missing} among ${total} identified messages in host1 that are not on host2.`
}

/** The last line of every run. */
export function lastLine(exit: Exit, errors: number, maxErrors: number): string {
  const [code, name] = EXIT_VALUES[exit]
  return `Exiting with return value ${code} (${name}) ${errors}/${maxErrors} nb_errors/max_errors PID ${process.pid}`
}

function sizeOf(bytes: number): string {
  if (bytes < 1_024 ** 2) return `${(bytes / 1_024).toFixed(3)} KiB`
  if (bytes < 1_024 ** 3) return `${(bytes / 1_024 ** 2).toFixed(3)} MiB`
  return `${(bytes / 1_024 ** 3).toFixed(3)} GiB`
}
