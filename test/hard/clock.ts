import { globSync, mkdtempSync, rmSync, writeFileSync, chmodSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { unpacked } from '../servers/debian-package.ts'

/** A clock for processes that are started with its environment; what measures durations is left alone (libfaketime). */
export type Clock = {
  environment: Record<string, string>
  /** Sets it ahead of the machine's by so many hours. */
  set(hours: number): void
  remove(): void
}

export function makeClock(): Clock {
  const folder = mkdtempSync(join(tmpdir(), 'portreeve-clock-'))
  chmodSync(folder, 0o755)
  const file = join(folder, 'offset')
  const root = unpacked('faketime')
  const [library = ''] = globSync('usr/lib/*/faketime/libfaketimeMT.so.1', { cwd: root })
  const set = (hours: number) => writeFileSync(file, `${hours < 0 ? '' : '+'}${hours}h\n`)
  set(0)
  return {
    environment: {
      LD_PRELOAD: join(root, library),
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      DONT_FAKE_MONOTONIC: '1',
    },
    set,
    remove: () => rmSync(folder, { recursive: true }),
  }
}
