import { isUnusualDate, isUserFlag, serialiseDate, storableFlags } from './flags-and-dates.ts'
import { IMAP_LIMITS } from '../limits.ts'
import type { Wire } from '../connection/wire.ts'

/**
 * The part of an APPEND between the mailbox and the literal. `shape` names what a server could
 * reject in it; null for unusual headers.
 */
export type AppendHeader = { text: string; shape: string | null }

/**
 * Builds the header of a message from flags that the mailbox can store and from a valid date. Other
 * flags and dates are left out.
 */
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

/** What is known of an account’s literals; shared by all its appenders. */
export type LiteralKnowledge = {
  /** Accepted headers: a set of keywords accepted once need not be tested again. */
  shapes: Set<string>
  /** The server has read a literal as commands: every literal waits for a continuation. */
  mustSynchronize: boolean
}

/**
 * Decides which literals are sent without waiting for the server (RFC 7888). A server that rejects
 * a header answers BAD without reading the literal, and would then read the literal as commands.
 * Therefore only headers that it accepted before are sent without waiting.
 */
export type LiteralPolicy = {
  canSkipContinuation(header: AppendHeader, size: number): boolean
  recordAccepted(header: AppendHeader): void
  /** The server was seen to discard the literals of commands that it rejects for their mailbox. */
  trustMailbox(): void
}

/**
 * @param limit bytes up to which the server accepts literals without a continuation; below 0: none
 * @param shapes headers accepted in any mailbox; each mailbox must have accepted one as well, unless
 *   it is trusted
 */
export function createLiteralPolicy(limit: number, shapes: Set<string>): LiteralPolicy {
  let isOpen = false
  return {
    canSkipContinuation: ({ shape }, size) =>
      isOpen && shape !== null && size <= limit && shapes.has(shape),
    recordAccepted({ shape }) {
      isOpen = true
      if (shape !== null) shapes.add(shape)
    },
    trustMailbox: () => (isOpen = true),
  }
}

/**
 * Bytes of a literal that may be sent without a continuation (RFC 7888): any size with LITERAL+,
 * bounded here, 4096 with LITERAL-, and none (-1) otherwise.
 */
export function maxNonSyncLiteralBytes({ capabilities }: Wire): number {
  if (capabilities.has('LITERAL+')) return IMAP_LIMITS.nonSyncLiteralBytes
  return capabilities.has('LITERAL-') ? 4096 : -1
}

/** The largest message that the server accepts, in bytes (RFC 7889). */
export function maxMessageBytes({ capabilities }: Wire): number {
  const [capability] = [...capabilities].filter((name) => name.startsWith('APPENDLIMIT='))
  return capability === undefined
    ? Infinity
    : Number(capability.slice('APPENDLIMIT='.length)) || Infinity
}
