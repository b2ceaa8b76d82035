import { hashPassword as hashByLibrary, verifyPassword as verifyByLibrary } from 'better-auth/crypto'
import { Fault } from '../errors.ts'

/**
 * scrypt takes some 80 ms and 32 MiB in one of the four threads that files and compression use too: half of the threads stay
 * free for those.
 */
const HASHES_AT_ONCE = 2

/** Some three seconds of work. Requests beyond that are refused before anything is computed. */
const MAX_WAITING_HASHES = 60

const RETRY_AFTER_SECONDS = 5

let running = 0
const waiting: (() => void)[] = []

/** @throws Fault `unavailable` when too many passwords wait to be hashed */
export function hashPassword(password: string): Promise<string> {
  return whenThereIsRoom(() => hashByLibrary(password))
}

/** @throws Fault `unavailable` when too many passwords wait to be hashed */
export function verifyPassword(check: { hash: string; password: string }): Promise<boolean> {
  return whenThereIsRoom(() => verifyByLibrary(check))
}

async function whenThereIsRoom<T>(work: () => Promise<T>): Promise<T> {
  if (running >= HASHES_AT_ONCE) await queue()
  else running++
  try {
    return await work()
  } finally {
    // The next one takes over the place, so that nobody who comes in between does.
    const next = waiting.shift()
    if (next) next()
    else running--
  }
}

function queue(): Promise<void> {
  if (waiting.length >= MAX_WAITING_HASHES) {
    const sentence = 'Too many people are signing in at this moment. Try again in a few seconds.'
    throw new Fault('unavailable', sentence, { retryAfter: RETRY_AFTER_SECONDS })
  }
  return new Promise((resolve) => waiting.push(resolve))
}
