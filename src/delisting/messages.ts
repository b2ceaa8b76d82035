import { describeConfirmation } from './requests/letter.ts'
import { isNotRequested, type StepEvent, type StepState } from './steps/state-machine.ts'
import type { Answer } from './steps/plan.ts'
import type { StepRow } from './steps/store.ts'
import { MAX_ATTEMPTS } from './steps/timing.ts'

/** What comes next and who does it, as a sentence or two. */
export function describeNextStep(step: StepRow): string {
  if (step.status === 'completed') return `${step.name} does not list the address any more.`
  if (step.status === 'failed') return describeFailure(step)
  if (step.status === 'pending') return 'Begins within a minute.'
  if (step.needs) return NEEDED[step.needs](step)
  if (step.obstacles.length > 0) return step.obstacles.join(' ')
  if (step.status === 'running' || isNotRequested(step)) return 'The list is being dealt with.'
  return describeWait(step)
}

const NEEDED: Record<NonNullable<StepRow['needs']>, (step: StepRow) => string> = {
  mend: ({ obstacles }) => `${obstacles.join(' ')} It goes on by itself when that is done.`,
  confirm: ({ lastAnswer }) => describeConfirmation(lastAnswer),
  submit: ({ plan }) =>
    sentences(
      `Open ${plan.url ?? 'the page of the list'}, ask for the removal with the text prepared here, and mark it as submitted. Never pay for it.`,
      plan.notes,
    ),
  send: ({ plan }) =>
    plan.email === undefined
      ? sentences(
          `The address to write to stands on ${plan.url ?? 'the page of the list'}. Send the text from your own mailbox and mark it as submitted.`,
          plan.notes,
        )
      : sentences(
          `Send the text to ${plan.email} from your own mailbox and mark it as submitted.`,
          'Portreeve sends it itself when a mail relay is set (SMTP_URL) and the address of your account is confirmed.',
        ),
}

function describeFailure({ outcome, attempt, name }: StepRow): string {
  const again = attempt < MAX_ATTEMPTS ? ' Begin it anew when something has changed.' : ''
  switch (outcome) {
    case 'cancelled':
      return 'You gave it up.'
    case 'undelivered':
      return `The mail to ${name} could not be delivered.${again}`
    case 'unanswered':
      return `${name} did not answer for so long that it is not known whether it still lists the address.${again}`
    default:
      return `${name} still lists the address after all the time it was given. Is the cause gone?${again}`
  }
}

function describeWait({ method, request, plan, requestedAt, name }: StepRow): string {
  if (method === 'provider') {
    return `${SCOPE[plan.scope] ?? 'The owner of the network'} alone can have it removed: forward the text to your provider. ${name} is asked daily whether it is gone.`
  }
  const day = requestedAt?.toISOString().slice(0, 10)
  if (request === 'unsure') {
    return `On ${day} the service was interrupted while the mail was on its way. It counts as sent, so that it is not sent twice; the log of your relay knows whether it was.`
  }
  if (request === 'made') return `${name} was asked on ${day} and is looked at until it lets the address go.`
  if (plan.follows) return `Repeats the entries of ${plan.follows.join(', ')}, and leaves with them.`
  if (plan.expiry === undefined) return sentences('No way to ask this list is known.', plan.notes)
  return sentences(`Entries leave by themselves: ${plan.expiry}. See that the cause is gone.`, plan.notes)
}

const SCOPE: Partial<Record<StepRow['plan']['scope'], string>> = {
  range: 'The entry is for a whole range, whose owner',
  asn: 'The entry is for a whole provider, which',
}

function sentences(...parts: (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined).join(' ')
}

/** What happened, as a sentence for the step's history; null for what changed nothing. */
export function describeEvent(before: StepRow, after: StepState, event: StepEvent, answer?: Answer): string | null {
  if (event.type !== 'answered') return EVENTS[event.type]({ ...before, ...after, plan: before.plan })
  const said = answer && isNewAnswer(before.lastAnswer, answer) ? describeAnswer(answer) : null
  return [said, describeConsequence(before, after)].filter((part) => part !== null).join(' ') || null
}

const EVENTS: Record<Exclude<StepEvent['type'], 'answered'>, (step: StepRow) => string> = {
  start: () => 'Begun.',
  claimed: (step) => `The ${mailOf(step)} is handed over, to ${step.plan.email}.`,
  sent: (step) => `The relay has taken the ${mailOf(step)}.`,
  refused: ({ status, reminder }) =>
    status === 'failed' || reminder === 'settled'
      ? 'The mail is given up.'
      : 'The mail was not taken; it is tried again.',
  unsure: (step) => `It is not known whether the ${mailOf(step)} was taken. It counts as sent.`,
  confirm: () => 'The owner has said cause and fix.',
  submitted: () => 'Marked as submitted.',
  retry: ({ attempt, status }) =>
    status === 'pending' ? `Begun anew: attempt ${attempt} of ${MAX_ATTEMPTS}.` : 'Looked at again.',
  cancel: () => 'Given up by you.',
}

function mailOf({ reminder }: StepRow): 'mail' | 'reminder' {
  return reminder === 'claimed' || reminder === 'settled' ? 'reminder' : 'mail'
}

function isNewAnswer(last: Answer, answer: Answer): boolean {
  return last.status !== answer.status || last.codes.join() !== answer.codes.join() || last.detail !== answer.detail
}

function describeAnswer({ status, codes, reason, detail }: Answer): string {
  if (status === 'clean') return 'The list says: not listed.'
  if (status === 'unknown') return `The list could not be asked: ${detail ?? 'no answer'}`
  return `The list says: ${codes.join(', ')}${reason === null ? '.' : ` (${reason}).`}`
}

function describeConsequence(before: StepRow, after: StepState): string | null {
  if (after.status === 'completed') return 'Completed.'
  if (after.status === 'failed') return 'Given up: the time is over.'
  if (after.cleanAt && !before.cleanAt) return 'Asked once more before it is believed.'
  if (after.needs && after.needs !== before.needs) return NEED_EVENTS[after.needs]
  const [obstacle] = after.obstacles
  return obstacle !== undefined && obstacle !== before.obstacles[0] ? obstacle : null
}

const NEED_EVENTS: Record<NonNullable<StepState['needs']>, string> = {
  mend: 'Something has to be mended first.',
  confirm: 'Waits for cause and fix.',
  submit: 'The form is prepared and waits for a person.',
  send: 'The mail is prepared and waits for a person.',
}
