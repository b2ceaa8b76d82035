import { setFlagsFromString } from 'node:v8'

let running = 0

/**
 * Keeps V8’s young generation small while migrations run. It would grow to 64 MB of rows that are
 * garbage a moment later. A small one is collected more often and costs no more time
 * (bench/README.md).
 */
export async function withSmallHeap<T>(work: () => Promise<T>): Promise<T> {
  running += 1
  if (running === 1) setFlagsFromString('--semi-space-growth-factor=1')
  try {
    return await work()
  } finally {
    running -= 1
    if (running === 0) setFlagsFromString('--semi-space-growth-factor=2')
  }
}
