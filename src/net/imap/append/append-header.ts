import { isUnusualDate, isUserFlag, serialiseDate, storableFlags } from './flags-and-dates.ts'
import { LIMITS } from '../limits.ts'
import type { Wire } from '../connection/wire.ts'

/** What stands between the mailbox and the literal, and what of it a server could dislike. */
export type AppendHeader = { text: string; shape: string | null }

/** Flags that the mailbox can store and a date that is one; the rest is left out. */
export function appendHeaderOf(
  message: { flags: readonly string[]; internalDate: string | null },
  permanentFlags: readonly string[] | null,
): AppendHeader {
  const { flags } = storableFlags(message.flags, permanentFlags)
  const date = message.internalDate === null ? null : serialiseDate(message.internalDate)
  const text = ` (${flags.join(' ')})${date === null ? '' : ` "${date}"`}`
  const isUnusual = date !== null && isUnusualDate(date)
  return { text, shape: isUnusual ? null : [date !== null, ...flags.filter(isUserFlag)].join(' ') }
}

/**
 * Which literals need not wait for the server. A header it dislikes is answered BAD without reading the literal after
 * it, which it would then take for commands: only what it has once said `+` to is sent without asking.
 */
export type LiteralPolicy = {
  canSkipContinuation(header: AppendHeader, size: number): boolean
  recordAccepted(header: AppendHeader): void
}

/**
 * @param limit bytes up to which the server takes literals unasked; below 0: none
 * @param shapes what it has taken in any mailbox; each mailbox must have taken something besides
 */
export function createLiteralPolicy(limit: number, shapes: Set<string>): LiteralPolicy {
  let isOpen = false
  return {
    canSkipContinuation: ({ shape }, size) => isOpen && shape !== null && size <= limit && shapes.has(shape),
    recordAccepted({ shape }) {
      isOpen = true
      if (shape !== null) shapes.add(shape)
    },
  }
}

/** RFC 7888: LITERAL+ takes any size unasked, LITERAL- 4096 bytes. */
export function maxNonSyncLiteralBytes({ capabilities }: Wire): number {
  if (capabilities.has('LITERAL+')) return LIMITS.nonSyncLiteralBytes
  return capabilities.has('LITERAL-') ? 4096 : -1
}

/** The largest message the server takes (RFC 7889), in bytes. */
export function maxMessageBytes({ capabilities }: Wire): number {
  const [told] = [...capabilities].filter((capability) => capability.startsWith('APPENDLIMIT='))
  return told === undefined ? Infinity : Number(told.slice('APPENDLIMIT='.length)) || Infinity
}
