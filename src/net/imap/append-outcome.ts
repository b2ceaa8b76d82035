import { uidsOf } from './encode.ts'
import { classify, ImapLost, type Refusal } from './refusals.ts'
import { numberOf, stringOf, type ResponseCode } from './response.ts'
import type { Command } from './wire.ts'

/** What became of one message. */
export type AppendOutcome =
  /** The server has it. `uid` and `uidValidity` as it told (UIDPLUS), else null. */
  | { state: 'stored'; uid: number | null; uidValidity: number | null }
  /** It has not, and said why. */
  | { state: 'refused'; refusal: Refusal }
  /** Whole on its way when the connection was lost, without an answer: it may be there or not. */
  | { state: 'unknown'; lost: ImapLost }
  /** Not wholly sent: it is certainly not there. */
  | { state: 'unsent'; lost: ImapLost }

/** One APPEND as far as it was written. */
export type Attempt = { command: Command | null; isCommitted: boolean; lost: ImapLost | null }

/** Waits for the answer: one outcome for each of the command's messages. Never rejects. */
export async function outcomesOf(attempt: Attempt, messages: number): Promise<AppendOutcome[]> {
  const { command } = attempt
  const fallen = (lost: ImapLost): AppendOutcome[] =>
    fill(messages, { state: attempt.isCommitted ? 'unknown' : 'unsent', lost })
  if (!command) return fallen(attempt.lost ?? new ImapLost('ours', 'It was not sent.'))
  try {
    const { status, code, text } = await command.answer
    if (status === 'OK') return storedAs(code, messages)
    return fill(messages, { state: 'refused', refusal: classify(status, code?.name ?? null, text) })
  } catch (error) {
    return fallen(error instanceof ImapLost ? error : new ImapLost('ours', String(error)))
  }
}

/** `[APPENDUID 7 5,8:10]` (RFC 4315, 3): the UIDs in the order of the messages. */
function storedAs(code: ResponseCode | null, messages: number): AppendOutcome[] {
  const isTold = code?.name === 'APPENDUID'
  const uidValidity = isTold ? numberOf(code.args[0]) : null
  const uids = isTold ? uidsOf(stringOf(code.args[1]) ?? '', messages) : null
  const isWhole = uids?.length === messages
  return Array.from({ length: messages }, (_, index) => ({
    state: 'stored',
    uid: isWhole ? (uids[index] ?? null) : null,
    uidValidity,
  }))
}

export function fill<T>(count: number, value: T): T[] {
  return Array.from({ length: count }, () => value)
}
