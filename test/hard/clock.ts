import { chmodSync, globSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { unpacked } from '../servers/debian-package.ts'

/**
 * A clock for processes that are started with its environment (libfaketime). Monotonic clocks are
 * unchanged.
 */
export type Clock = {
  environment: Record<string, string>
  /**
   * Sets it a number of hours ahead of the machine’s clock; processes notice within two seconds.
   */
  set(hours: number): void
  remove(): void
}

export function makeClock(): Clock {
  const folder = mkdtempSync(join(tmpdir(), 'portreeve-clock-'))
  chmodSync(folder, 0o755)
  const file = join(folder, 'offset')
  const root = unpacked('faketime')
  const [library = ''] = globSync('usr/lib/*/faketime/libfaketimeMT.so.1', { cwd: root })
  const set = (hours: number) => {
    // An empty file means the real time.
    writeFileSync(`${file}.next`, `${hours < 0 ? '' : '+'}${hours}h\n`)
    renameSync(`${file}.next`, file)
  }
  set(0)
  return {
    environment: {
      LD_PRELOAD: join(root, library),
      FAKETIME_TIMESTAMP_FILE: file,
      // Reading the file allocates memory. PostgreSQL reads the time in its SIGALRM handler too, so
      // reading on each call sometimes corrupted the heap of a process, and the server restarted.
      FAKETIME_CACHE_DURATION: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      DONT_FAKE_MONOTONIC: '1',
    },
    set,
    remove: () => rmSync(folder, { recursive: true }),
  }
}
