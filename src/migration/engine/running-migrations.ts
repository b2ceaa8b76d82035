import { setFlagsFromString } from 'node:v8'

let running = 0

/** Migrations that this process runs now. They share its processor and its connections. */
export function countRunning(): number {
  return running
}

/**
 * Runs a migration. Meanwhile, V8’s young generation is kept small: it would grow to 64 MB of rows
 * that are garbage a moment later. A small one is collected more often and costs no more time
 * (bench/README.md).
 */
export async function runMigration<T>(work: () => Promise<T>): Promise<T> {
  running += 1
  if (running === 1) setFlagsFromString('--semi-space-growth-factor=1')
  try {
    return await work()
  } finally {
    running -= 1
    if (running === 0) setFlagsFromString('--semi-space-growth-factor=2')
  }
}
