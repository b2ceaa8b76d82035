import { setFlagsFromString } from 'node:v8'

let running = 0

/**
 * Keeps V8's young generation as small as it is while migrations run. It would grow to 64 MB, full
 * of rows that nobody needs a moment later; small, it is swept more often and takes no longer
 * altogether (bench/README.md).
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
