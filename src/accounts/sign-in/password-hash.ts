import { createBoundedQueue } from './bounded-queue.ts'

/**
 * scrypt takes about 80 ms and 32 MiB in one of the four threads of libuv, which files and
 * compression use too: half of the threads stay free. Sixty waiting hashes are about three seconds
 * of work.
 */
const run = createBoundedQueue({ maxConcurrent: 2, maxWaiting: 60 })

/** @throws Fault `unavailable` when the queue is full */
export function hashPassword(password: string): Promise<string> {
  return run(async () => (await import('better-auth/crypto')).hashPassword(password))
}

/** @throws Fault `unavailable` when the queue is full */
export function verifyPassword(check: { hash: string; password: string }): Promise<boolean> {
  return run(async () => (await import('better-auth/crypto')).verifyPassword(check))
}
