import { setTimeout as pause } from 'node:timers/promises'
import { Fault, messageOf } from '../../errors.ts'
import type { Logger } from '../../log.ts'
import { mayHaveBeenTaken, sendMail } from '../../net/smtp.ts'
import type { Db } from '../../store/database.ts'
import { applyEvent } from '../steps/change.ts'
import { findStep, type StepRow } from '../steps/store.ts'
import { SENDING_TIMEOUT_MS } from '../steps/timing.ts'
import type { ProcessRow } from '../store.ts'
import type { NotifyDeps } from '../notify.ts'
import { writeLetter, writeReminder, type Letter } from './letter.ts'
import { deleteRequest, insertRequest, lockRecipient, markRequest, type Attempt } from './store.ts'
import { findDelay } from './delay.ts'

/** The relay of the installation, and the address its mails come from. */
export type MailRelay = { smtpUrl: string; from: string }

export type SendDeps = NotifyDeps & { relay: MailRelay | null; log: Logger }

/** What a list is written about this step: to be sent, or shown to a person. */
export function letterOf(process: ProcessRow, step: StepRow): Letter {
  const { ip, cause, fix, reverseDns: reverse, contact } = process
  const { name, zone, method, ownText, lastAnswer, firstAnswer } = step
  const answer = lastAnswer.status === 'listed' ? lastAnswer : firstAnswer
  const { url } = step.plan
  return writeLetter({ ip, name, zone, method, url, answer, cause, fix, ownText, reverse, contact })
}

/** The same for every try of an attempt: whoever gets it twice all the same can see so. */
export function messageIdOf({ id, attempt, isReminder }: Attempt, from: string): string {
  const domain = /@([\w.-]+)>?$/.exec(from)?.[1] ?? 'localhost'
  return `<delisting.${id}.${attempt}${isReminder ? '.reminder' : ''}@${domain}>`
}

/** The mail that a step is ready for, or has on its way. */
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
 * Sends the mail of a step that is ready for it. It is claimed when the relay has let us in and before it is given the
 * message, so that of any number of workers, at whatever time they die, one hands it over, once.
 */
export async function sendRequest(deps: SendDeps, ready: StepRow): Promise<void> {
  const found = await findStep(deps.db, ready.id)
  const recipient = ready.plan.email
  if (!deps.relay || !found || recipient === undefined) return
  const { from } = deps.relay
  const attempt = mailOf(ready)
  const letter = attempt.isReminder ? reminderOf(found.process, found.step) : letterOf(found.process, found.step)
  const mail = { to: recipient, ...letter, messageId: messageIdOf(attempt, from) }
  const first = attempt.isReminder && messageIdOf({ ...attempt, isReminder: false }, from)
  const headers = { 'Reply-To': found.process.contact, ...(first && { 'In-Reply-To': first, References: first }) }
  const relay = { ...deps.relay, beforeMessage: () => claimMail(deps, attempt, mail) }
  // A service that stops waits for the relay's word as long as it can: without it nobody knows what became of the mail.
  const patience = AbortSignal.timeout(SENDING_TIMEOUT_MS)
  const settle = await sendMail(relay, { ...mail, headers }, patience).then(
    ({ reply }) =>
      () =>
        recordSent(deps, attempt, reply),
    (error: unknown) => () => recordNotSent(deps, attempt, error),
  )
  await retryWrite(settle)
}

type Mail = { to: string; text: string; messageId: string }

/** @throws Fault `conflict` when the step is not to be sent any more */
async function claimMail(deps: SendDeps, mail: Attempt, { to, text, messageId }: Mail): Promise<void> {
  const { id, attempt, isReminder: reminder } = mail
  const claimed = await applyEvent(deps, id, {
    event: { type: 'claimed' },
    attempt,
    async also(db, { process, step }) {
      await lockRecipient(db, to)
      // Others have written there since it was looked at: it is looked at again.
      if (await findDelay(db, process.ip, step, deps.now())) throw overtaken()
      const request = { stepId: id, attempt, reminder, ip: process.ip, zone: step.zone, recipient: to, messageId }
      await insertRequest(db, { ...request, state: 'claimed', at: deps.now() })
      // What is shown from now on is what was sent.
      return reminder ? {} : { ownText: text }
    },
  })
  if (!claimed) throw overtaken()
}

function overtaken(): Fault {
  return new Fault('conflict', 'Somebody else has dealt with this step.')
}

async function recordSent(deps: SendDeps, mail: Attempt, reply: string): Promise<void> {
  const { id, attempt } = mail
  const mark = (db: Db) => markRequest(db, mail, 'made', reply)
  const changed = await applyEvent(deps, id, {
    event: { type: 'sent' },
    attempt,
    note: `It said: ${reply}`,
    also: mark,
  })
  // Cancelled while it was on its way: it was sent all the same.
  if (!changed) await mark(deps.db)
}

async function recordNotSent(deps: SendDeps, mail: Attempt, error: unknown): Promise<void> {
  if (error instanceof Fault && error.code === 'conflict') return
  deps.log.warn({ err: error, stepId: mail.id }, 'a delisting mail could not be sent')
  await (mayHaveBeenTaken(error) ? recordUnsure(deps, mail) : recordRefused(deps, mail, error))
}

async function recordRefused(deps: SendDeps, mail: Attempt, error: unknown): Promise<void> {
  const { id, attempt } = mail
  const forGood = error instanceof Fault && error.code === 'upstream_rejected'
  const forget = (db: Db) => deleteRequest(db, mail)
  const event = { type: 'refused', forGood } as const
  const changed = await applyEvent(deps, id, { event, attempt, note: messageOf(error), also: forget })
  if (!changed) await forget(deps.db)
}

/** A mail of which nobody knows whether it arrived: it counts as sent. */
async function recordUnsure(deps: NotifyDeps, mail: Attempt): Promise<void> {
  const { id, attempt } = mail
  const mark = (db: Db) => markRequest(db, mail, 'unsure')
  await applyEvent(deps, id, { event: { type: 'unsure' }, attempt, also: mark })
}

/** For a mail that was on its way when its worker died. */
export function recordLost(deps: NotifyDeps, step: StepRow): Promise<void> {
  return recordUnsure(deps, mailOf(step))
}

const WRITE_TRIES = 5

/** The relay has answered: a database that is away for a moment must not make that be forgotten. */
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
