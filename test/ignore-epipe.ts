import type { Writable } from 'node:stream'

/**
 * Accepts that the program at the other end of this standard input has ended without reading all of
 * it. Other errors are thrown.
 */
export function ignoreEpipe<T extends Writable | null>(stdin: T): T {
  stdin?.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
  return stdin
}
