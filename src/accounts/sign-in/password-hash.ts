import { randomBytes, scrypt, timingSafeEqual, type ScryptOptions } from 'node:crypto'
import { promisify } from 'node:util'
import { createBoundedQueue } from './bounded-queue.ts'

/** N of scrypt (RFC 7914, section 2): about 80 ms and 32 MiB. */
export const PASSWORD_COST = 16_384

/** r of scrypt. */
const BLOCK_SIZE = 16
const KEY_BYTES = 64
/** Twice what a hash of the usual cost needs. */
const MAX_MEMORY_BYTES = 64 * 1024 ** 2

/**
 * scrypt runs in one of the four threads of libuv, which files and compression use too: half of the
 * threads stay free. Sixty waiting hashes are about three seconds of work.
 */
const run = createBoundedQueue({ maxConcurrent: 2, maxWaiting: 60 })

/**
 * Hashes a password to `salt:key`, as better-auth does and as earlier versions verify it. A hash of
 * another cost names it: `salt:key:cost`.
 * @throws Fault `unavailable` when the queue is full
 */
export async function hashPassword(password: string, cost = PASSWORD_COST): Promise<string> {
  const salt = randomBytes(16).toString('hex')
  const key = await deriveKey(password, salt, cost)
  const hash = `${salt}:${key.toString('hex')}`
  return cost === PASSWORD_COST ? hash : `${hash}:${cost}`
}

/** @throws Fault `unavailable` when the queue is full */
export async function verifyPassword(check: { hash: string; password: string }): Promise<boolean> {
  const [salt, key, cost = PASSWORD_COST] = check.hash.split(':')
  if (!salt || !key) throw new Error('The password hash is invalid.')
  const expected = Buffer.from(key, 'hex')
  const derived = await deriveKey(check.password, salt, Number(cost))
  return expected.length === derived.length && timingSafeEqual(expected, derived)
}

function deriveKey(password: string, salt: string, cost: number): Promise<Buffer> {
  const options = { N: cost, r: BLOCK_SIZE, p: 1, maxmem: MAX_MEMORY_BYTES }
  return run(() => derive(password.normalize('NFKC'), salt, KEY_BYTES, options))
}

const derive = promisify<string, string, number, ScryptOptions, Buffer>(scrypt)
