import { readFileSync } from 'node:fs'

let known: Set<string> | undefined

/** Whether a password is among those that people use most, in any case: the first that anybody tries. */
export function isCommonPassword(password: string): boolean {
  // Half a megabyte of memory that most processes never need.
  known ??= readList()
  return known.has(password.toLowerCase())
}

function readList(): Set<string> {
  const text = readFileSync(new URL('../../data/common-passwords.txt', import.meta.url), 'utf8')
  return new Set(text.split('\n').filter((line) => line !== '' && !line.startsWith('#')))
}
