let running = 0

/** Migrations that this process runs now. They share its processor, and often the servers. */
export function countRunning(): number {
  return running
}

/** Runs a migration, which counts meanwhile. */
export async function whileRunning<T>(migration: () => Promise<T>): Promise<T> {
  running += 1
  try {
    return await migration()
  } finally {
    running -= 1
  }
}
