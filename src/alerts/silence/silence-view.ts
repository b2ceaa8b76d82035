import { nameOfActor } from './handling/handling.ts'
import type { MuteRow } from './mutes.sql.ts'
import type { HandlingRow } from './handling/handling.sql.ts'

/** Presents for the API who handles an incident. */
export function presentHandling(row: HandlingRow | undefined) {
  const mute = row?.mute ?? null
  return {
    acknowledgedAt: row?.acknowledgedAt ?? null,
    acknowledgedBy: row?.acknowledgedAt
      ? nameOfActor(row.acknowledgedBy, row.acknowledgedVia)
      : null,
    snoozedUntil: row?.snoozedUntil ?? null,
    snoozedBy: row?.snoozedUntil ? nameOfActor(row.snoozedBy, row.snoozedVia) : null,
    mute: mute && {
      id: mute.id,
      reason: mute.reason,
      until: mute.until && new Date(mute.until),
      by: nameOfActor(mute.by, mute.via),
    },
  }
}

export function presentMute({ endsAt, createdBy, createdVia, ...mute }: MuteRow) {
  return { ...mute, until: endsAt, createdBy: nameOfActor(createdBy, createdVia) }
}
