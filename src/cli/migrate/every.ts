import { setTimeout as sleep } from 'node:timers/promises'
import type { HeldFolder, SyncChanges } from '../../migration/engine/sync/pass.ts'
import type { MigrateOptions } from '../../migration/engine/migration-options.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../time.ts'
import { UsageError } from '../command.ts'
import { sanitizeForTerminal } from '../terminal-text.ts'
import { countText } from './progress-bars.ts'
import type { MigrateFlags } from './migrate-flags.ts'

const UNIT_MS = { s: SECOND_MS, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS }
const MIN_MS = 5 * SECOND_MS
const MAX_MS = 7 * DAY_MS

/**
 * Reads `--every`: milliseconds between two passes; null without it.
 * @throws UsageError
 */
export function intervalOf({
  every,
  'dry-run': isDry,
  'apply-deletions': applies,
  'confirm-deletions': confirms,
}: MigrateFlags): number | null {
  if (confirms && !applies) throw new UsageError('--confirm-deletions needs --apply-deletions.')
  if (every === undefined) {
    if (applies) throw new UsageError('--apply-deletions needs --every.')
    return null
  }
  if (isDry) throw new UsageError('A dry run cannot be synchronized.')
  const [, number = '', unit = ''] = /^(\d{1,5})([smhd])$/.exec(every) ?? []
  const interval = Number(number) * (UNIT_MS[unit as keyof typeof UNIT_MS] ?? 0)
  if (interval < MIN_MS || interval > MAX_MS)
    throw new UsageError('--every must be a time from 5s to 7d, such as 30m, 2h or 1d.')
  return interval
}

/** How the engine synchronizes; undefined without `--every`. */
export function syncOptionsOf(flags: MigrateFlags): MigrateOptions['sync'] {
  if (flags.every === undefined) return undefined
  return {
    deletions: flags['apply-deletions'] ? 'apply' : 'record',
    isLargeConfirmed: flags['confirm-deletions'],
  }
}

/** What a pass changed, for people. */
export function describeChanges(changes: SyncChanges | null): string {
  if (changes === null) return 'nothing new'
  const { copied, flags, moved, deleted, applied } = changes
  const parts = [
    [copied, 'new'],
    [flags, 'with changed flags'],
    [moved, 'moved'],
    [deleted, 'deleted at the source'],
    [applied, 'deleted at the destination'],
  ] as const
  const shown = parts.filter(([count]) => count > 0)
  if (shown.length === 0) return 'nothing new'
  return shown.map(([count, what]) => `${countText(count)} ${what}`).join(', ')
}

/** The deletions that wait for a confirmation, for people; null for none. */
export function describeHeld(held: readonly HeldFolder[]): string | null {
  if (held.length === 0) return null
  const folders = held.map(({ folder, messages }) => `${folder} (${countText(messages)})`)
  return `Not deleted, because more than half of a folder disappeared at once: ${sanitizeForTerminal(folders.join(', '))}. Check the source, then run this with --confirm-deletions.`
}

/** Waits for the next pass; false when it was stopped. */
export async function waitForPass(interval: number, stop: AbortSignal): Promise<boolean> {
  await sleep(interval, undefined, { signal: stop }).catch(() => undefined)
  return !stop.aborted
}
