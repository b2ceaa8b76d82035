import { setTimeout as pause } from 'node:timers/promises'
import { Fault, messageOf } from '../../errors.ts'
import type { Logger } from '../../log.ts'
import { mayHaveBeenAccepted } from '../../net/handover.ts'
import { sendMail } from '../../net/smtp.ts'
import type { Db } from '../../store/database.ts'
import { applyEvent } from '../steps/change.ts'
import { findStep, type StepRow } from '../steps/delisting-steps.sql.ts'
import { SENDING_TIMEOUT_MS } from '../steps/timing.ts'
import type { ProcessRow } from '../delistings.sql.ts'
import type { NotifyDeps } from '../notify.ts'
import { writeLetter, writeReminder, type Letter } from './letter.ts'
import {
  deleteRequest,
  insertRequest,
  lockRecipient,
  markRequest,
  type Attempt,
} from './delisting-requests.sql.ts'
import { findDelay } from './delay.ts'

/** The mail relay of the installation, and its sender address. */
type MailRelay = { smtpUrl: string; from: string }

export type RequestDeps = NotifyDeps & { relay: MailRelay | null; log: Logger }

/** The request of this step, to send or to show. */
export function letterOf(process: ProcessRow, step: StepRow): Letter {
  const { ip, cause, fix, reverseDns: reverse, contact } = process
  const { name, zone, method, ownText, lastAnswer, firstAnswer } = step
  const answer = lastAnswer.status === 'listed' ? lastAnswer : firstAnswer
  const { url } = step.plan
  return writeLetter({ ip, name, zone, method, url, answer, cause, fix, ownText, reverse, contact })
}

/** The same for every try of an attempt, so that a recipient can recognize a duplicate. */
function requestMessageId({ id, attempt, isReminder }: Attempt, from: string): string {
  const domain = /@([\w.-]+)>?$/.exec(from)?.[1] ?? 'localhost'
  return `<delisting.${id}.${attempt}${isReminder ? '.reminder' : ''}@${domain}>`
}

/** The mail that a step is ready to send or is sending. */
function mailOf({ id, attempt, reminder }: StepRow): Attempt {
  return { id, attempt, isReminder: reminder === 'due' || reminder === 'claimed' }
}

function reminderOf(process: ProcessRow, step: StepRow): Letter {
  const { name, zone, lastAnswer: answer, requestedAt } = step
  return writeReminder(
    { ip: process.ip, name, zone, answer, requestedAt, contact: process.contact },
    letterOf(process, step),
  )
}

/**
 * Sends the mail of a step that is ready for it. The mail is claimed after the relay has accepted
 * the sign-in and before it gets the message, so that it is handed over once, by one worker, no
 * matter when a worker dies.
 */
export async function sendRequest(deps: RequestDeps, ready: StepRow): Promise<void> {
  const found = await findStep(deps.db, ready.id)
  const recipient = ready.plan.email
  if (!deps.relay || !found || recipient === undefined) return
  const { from } = deps.relay
  const attempt = mailOf(ready)
  const letter = attempt.isReminder
    ? reminderOf(found.process, found.step)
    : letterOf(found.process, found.step)
  const mail = { to: recipient, ...letter, messageId: requestMessageId(attempt, from) }
  const first = attempt.isReminder && requestMessageId({ ...attempt, isReminder: false }, from)
  const headers = {
    'Reply-To': found.process.contact,
    ...(first && { 'In-Reply-To': first, References: first }),
  }
  const relay = { ...deps.relay, beforeMessage: () => claimMail(deps, attempt, mail) }
  // A stopping service waits for the relay’s response: without it the state of the mail is unknown.
  const timeout = AbortSignal.timeout(SENDING_TIMEOUT_MS)
  const record = await sendMail(relay, { ...mail, headers }, timeout).then(
    ({ reply }) =>
      () =>
        recordSent(deps, attempt, reply),
    (error: unknown) => () => recordNotSent(deps, attempt, error),
  )
  await retryWrite(record)
}

type Mail = { to: string; text: string; messageId: string }

/** @throws Fault `conflict` when the step must not be sent */
async function claimMail(
  deps: RequestDeps,
  mail: Attempt,
  { to, text, messageId }: Mail,
): Promise<void> {
  const { id, attempt, isReminder: reminder } = mail
  const claimed = await applyEvent(deps, id, {
    event: { type: 'claimed' },
    attempt,
    async also(db, { process, step }) {
      await lockRecipient(db, to)
      // Another request went to this recipient since the check, so the step is checked again.
      if (await findDelay(db, process.ip, step, deps.now())) throw overtaken()
      const request = {
        stepId: id,
        attempt,
        reminder,
        ip: process.ip,
        zone: step.zone,
        recipient: to,
        messageId,
      }
      await insertRequest(db, { ...request, state: 'claimed', at: deps.now() })
      // From now on the API shows the text that was sent.
      return reminder ? {} : { ownText: text }
    },
  })
  if (!claimed) throw overtaken()
}

function overtaken(): Fault {
  return new Fault('conflict', 'Another worker has processed this step.')
}

async function recordSent(deps: RequestDeps, mail: Attempt, reply: string): Promise<void> {
  const { id, attempt } = mail
  const mark = (db: Db) => markRequest(db, mail, 'made', reply)
  const changed = await applyEvent(deps, id, {
    event: { type: 'sent' },
    attempt,
    note: `Response: ${reply}`,
    also: mark,
  })
  // The step was cancelled while the mail was being sent.
  if (!changed) await mark(deps.db)
}

async function recordNotSent(deps: RequestDeps, mail: Attempt, error: unknown): Promise<void> {
  if (error instanceof Fault && error.code === 'conflict') return
  deps.log.warn({ err: error, stepId: mail.id }, 'could not send a delisting email')
  await (mayHaveBeenAccepted(error) ? recordUnsure(deps, mail) : recordRefused(deps, mail, error))
}

async function recordRefused(deps: RequestDeps, mail: Attempt, error: unknown): Promise<void> {
  const { id, attempt } = mail
  const forGood = error instanceof Fault && error.code === 'upstream_rejected'
  const forget = (db: Db) => deleteRequest(db, mail)
  const event = { type: 'refused', forGood } as const
  const changed = await applyEvent(deps, id, {
    event,
    attempt,
    note: messageOf(error),
    also: forget,
  })
  if (!changed) await forget(deps.db)
}

/** A mail whose delivery is unknown counts as sent. */
async function recordUnsure(deps: NotifyDeps, mail: Attempt): Promise<void> {
  const { id, attempt } = mail
  const mark = (db: Db) => markRequest(db, mail, 'unsure')
  await applyEvent(deps, id, { event: { type: 'unsure' }, attempt, also: mark })
}

/** Records a mail whose worker died while sending it. */
export function recordLost(deps: NotifyDeps, step: StepRow): Promise<void> {
  return recordUnsure(deps, mailOf(step))
}

const WRITE_TRIES = 5

/** Retries a write, so that a short outage of the database does not lose the relay’s response. */
async function retryWrite(write: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await write()
    } catch (error) {
      if (tries === WRITE_TRIES) throw error
      await pause(tries * 1_000)
    }
  }
}
