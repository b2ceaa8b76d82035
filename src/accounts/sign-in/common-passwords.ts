import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../../version.ts'

let known: Set<string> | undefined

/**
 * Whether a password is on the list of common passwords, ignoring case. Attackers try these first.
 */
export function isCommonPassword(password: string): boolean {
  // Loaded on first use: half a megabyte of memory that most processes never need.
  known ??= readList()
  return known.has(password.toLowerCase())
}

function readList(): Set<string> {
  const text = readFileSync(join(ROOT, 'data/common-passwords.txt'), 'utf8')
  return new Set(text.split('\n').filter((line) => line !== '' && !line.startsWith('#')))
}
