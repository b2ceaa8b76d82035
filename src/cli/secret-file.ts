import { existsSync, readFileSync } from 'node:fs'
import { UsageError } from './command.ts'

/**
 * The text of a file, without the byte order mark that editors of Windows write.
 * @throws UsageError if the file does not exist
 */
export function readTextFile(file: string): string {
  if (!existsSync(file)) throw new UsageError(`File not found: ${file}.`)
  return withoutMark(readFileSync(file, 'utf8'))
}

/** The first line of a file, as it is: blanks can belong to a password. @throws UsageError */
export function readSecretFile(file: string): string {
  return firstLineOf(readTextFile(file))
}

/** The first line of a text, as it is. */
export function firstLineOf(text: string): string {
  return withoutMark(text).split(/\r?\n/, 1)[0] ?? ''
}

const withoutMark = (text: string) => text.replace(/^\uFEFF/, '')
