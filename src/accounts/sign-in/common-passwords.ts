import { readFileSync } from 'node:fs'

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
  const text = readFileSync(new URL('../../../data/common-passwords.txt', import.meta.url), 'utf8')
  return new Set(text.split('\n').filter((line) => line !== '' && !line.startsWith('#')))
}
