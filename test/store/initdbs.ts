import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Runs of initdb, with their children, that write to an unfinished folder of this data folder. */
export function initdbsOf(dataDir: string): string[] {
  const unfinished = join(dataDir, 'postgres.new-')
  return globSync('/proc/[0-9]*/cmdline').filter((file) => {
    try {
      return readFileSync(file, 'utf8').includes(unfinished)
    } catch {
      // It has ended meanwhile.
      return false
    }
  })
}
