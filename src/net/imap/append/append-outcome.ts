import { parseUidList } from '../connection/command-encoding.ts'
import { classifyRefusal, ImapLost, type Refusal } from '../connection/refusals.ts'
import { numberOf, positiveOf, stringOf, type ResponseCode } from '../connection/response.ts'
import type { Command } from '../connection/imap-command.ts'
import type { Wire } from '../connection/wire.ts'

/** The outcome of one message. */
export type AppendOutcome =
  /**
   * The server stored it. `uid` and `uidValidity` are as reported (UIDPLUS), otherwise null.
   * `isSent`: the operating system has all of its bytes, so that their memory can be freed.
   */
  | { state: 'stored'; uid: number | null; uidValidity: number | null; isSent: boolean }
  /** The server rejected it, with a reason. */
  | { state: 'refused'; refusal: Refusal }
  /**
   * The connection was lost after all bytes were sent and before the response: the message may be
   * stored or not. `isSuspect`: it was lost during this command.
   */
  | { state: 'unknown'; lost: ImapLost; isSuspect: boolean }
  /** Not all bytes were sent: the message is certainly not stored. */
  | { state: 'unsent'; lost: ImapLost; isSuspect: boolean }

/** The state of one APPEND while it is written. */
export type AppendAttempt = {
  command: Command | null
  isCommitted: boolean
  /** Bodies in memory that the operating system does not have yet. */
  unsentBodies: number
  lost: ImapLost | null
}

/**
 * Waits for the response and returns one outcome for each message of the command. Never rejects.
 */
export async function awaitOutcomes(
  attempt: AppendAttempt,
  messages: number,
  wire: Wire,
): Promise<AppendOutcome[]> {
  const { command } = attempt
  const lostOutcomes = (lost: ImapLost): AppendOutcome[] =>
    repeat(messages, {
      state: attempt.isCommitted ? 'unknown' : 'unsent',
      lost,
      isSuspect: command !== null && command === wire.lostDuring,
    })
  if (!command) return lostOutcomes(attempt.lost ?? new ImapLost('ours', 'It was not sent.'))
  try {
    const { status, code, text } = await command.answer
    if (status === 'OK') return storedOutcomes(code, messages, attempt.unsentBodies === 0)
    return repeat(messages, {
      state: 'refused',
      refusal: classifyRefusal(status, code?.name ?? null, text),
    })
  } catch (error) {
    return lostOutcomes(error instanceof ImapLost ? error : new ImapLost('ours', String(error)))
  }
}

/** Parses `[APPENDUID 7 5,8:10]` (RFC 4315, 3): the UIDs in the order of the messages. */
function storedOutcomes(
  code: ResponseCode | null,
  messages: number,
  isSent: boolean,
): AppendOutcome[] {
  const hasUids = code?.name === 'APPENDUID'
  const uidValidity = hasUids ? numberOf(code.args[0]) : null
  const uids = hasUids ? parseUidList(stringOf(code.args[1]) ?? '', messages) : null
  const isWhole = uids?.length === messages
  return Array.from({ length: messages }, (_, index) => ({
    state: 'stored',
    uid: isWhole ? positiveOf(String(uids[index])) : null,
    uidValidity,
    isSent,
  }))
}

export function repeat<T>(count: number, value: T): T[] {
  return Array.from({ length: count }, () => value)
}
