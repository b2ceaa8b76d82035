import { hashPassword as hashByLibrary, verifyPassword as verifyByLibrary } from 'better-auth/crypto'
import { createBoundedQueue } from './bounded-queue.ts'

/**
 * scrypt takes some 80 ms and 32 MiB in one of the four threads that files and compression use too: half of the threads stay
 * free for those. Sixty that wait are some three seconds of work.
 */
const run = createBoundedQueue({ maxConcurrent: 2, maxWaiting: 60 })

/** @throws Fault `unavailable` when too many passwords wait to be hashed */
export function hashPassword(password: string): Promise<string> {
  return run(() => hashByLibrary(password))
}

/** @throws Fault `unavailable` when too many passwords wait to be hashed */
export function verifyPassword(check: { hash: string; password: string }): Promise<boolean> {
  return run(() => verifyByLibrary(check))
}
