import { describeConfirmation } from './requests/letter.ts'
import { isNotRequested, type StepEvent, type StepState } from './steps/state-machine.ts'
import type { Answer } from './steps/plan-steps.ts'
import type { StepRow } from './steps/delisting-steps.sql.ts'
import { MAX_ATTEMPTS } from './steps/timing.ts'

/** The next action and who does it, in one or two sentences. */
export function describeNextStep(step: StepRow): string {
  if (step.status === 'completed') return `${step.name} no longer lists the address.`
  if (step.status === 'failed') return describeFailure(step)
  if (step.status === 'pending') return 'Starts within a minute.'
  if (step.needs) return NEEDED[step.needs](step)
  if (step.obstacles.length > 0) return step.obstacles.join(' ')
  if (step.status === 'running' || isNotRequested(step)) return 'In progress.'
  return describeWait(step)
}

const NEEDED: Record<NonNullable<StepRow['needs']>, (step: StepRow) => string> = {
  mend: ({ obstacles }) =>
    `${obstacles.join(' ')} The step continues automatically once this is fixed.`,
  confirm: ({ lastAnswer }) => describeConfirmation(lastAnswer),
  submit: ({ plan }) =>
    sentences(
      `Open ${plan.url ?? 'the page of the list'}, request the removal with the prepared text, and mark it as submitted. Never pay for removal.`,
      plan.notes,
    ),
  send: ({ plan }) =>
    plan.email === undefined
      ? sentences(
          `Find the email address on ${plan.url ?? 'the page of the list'}. Send the text from your own mailbox and mark it as submitted.`,
          plan.notes,
        )
      : sentences(
          `Send the text to ${plan.email} from your own mailbox and mark it as submitted.`,
          'Portreeve sends it for you when a mail relay is configured (SMTP_URL) and the email address of the workspace’s owner is confirmed.',
        ),
}

function describeFailure({ outcome, attempt, name }: StepRow): string {
  const again = attempt < MAX_ATTEMPTS ? ' Restart the step when something has changed.' : ''
  switch (outcome) {
    case 'cancelled':
      return 'You cancelled this step.'
    case 'undelivered':
      return `The email to ${name} could not be delivered.${again}`
    case 'unanswered':
      return `${name} stopped answering before the deadline, so the current status is unknown.${again}`
    default:
      return `${name} still lists the address at the deadline. Check that the cause is fixed.${again}`
  }
}

function describeWait({ method, request, plan, requestedAt, name }: StepRow): string {
  if (method === 'provider') {
    return `${SCOPE[plan.scope] ?? 'Only the owner of the network can request removal'}. Forward the text to your provider. Portreeve checks ${name} daily.`
  }
  const day = requestedAt?.toISOString().slice(0, 10)
  if (request === 'unsure') {
    return `On ${day} the service stopped while it sent the email. It counts as sent, so that it is not sent twice. Check the log of your relay.`
  }
  if (request === 'made')
    return `Removal from ${name} was requested on ${day}. Portreeve checks the list until the address is removed.`
  if (plan.follows)
    return `Repeats the entries of ${plan.follows.join(', ')}. The listing ends when they remove the address.`
  if (plan.expiry === undefined)
    return sentences('This list has no known removal procedure.', plan.notes)
  return sentences(
    `Entries expire automatically: ${plan.expiry}. Make sure that the cause is fixed.`,
    plan.notes,
  )
}

const SCOPE: Partial<Record<StepRow['plan']['scope'], string>> = {
  range: 'The entry covers a whole range, so only its owner can request removal',
  asn: 'The entry covers a whole provider, so only the provider can request removal',
}

function sentences(...parts: (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined).join(' ')
}

/** Describes an event for the activity of a step; null for an event that changed nothing. */
export function describeEvent(
  before: StepRow,
  after: StepState,
  event: StepEvent,
  answer?: Answer,
): string | null {
  if (event.type !== 'answered')
    return EVENTS[event.type]({ ...before, ...after, plan: before.plan })
  const news = answer && isNewAnswer(before.lastAnswer, answer) ? describeAnswer(answer) : null
  return (
    [news, describeConsequence(before, after)].filter((part) => part !== null).join(' ') || null
  )
}

const EVENTS: Record<Exclude<StepEvent['type'], 'answered'>, (step: StepRow) => string> = {
  start: () => 'Started.',
  claimed: (step) => `Sending the ${mailOf(step)} to ${step.plan.email}.`,
  sent: (step) => `The relay accepted the ${mailOf(step)}.`,
  refused: ({ status, reminder }) =>
    status === 'failed' || reminder === 'settled'
      ? 'The email was rejected and will not be retried.'
      : 'The email was not accepted. Portreeve will retry.',
  unsure: (step) => `The relay did not confirm the ${mailOf(step)}. It counts as sent.`,
  confirm: () => 'Cause and fix provided.',
  submitted: () => 'Marked as submitted.',
  retry: ({ attempt, status }) =>
    status === 'pending' ? `Restarted: attempt ${attempt} of ${MAX_ATTEMPTS}.` : 'Checked again.',
  cancel: () => 'Cancelled.',
}

function mailOf({ reminder }: StepRow): 'email' | 'reminder' {
  return reminder === 'claimed' || reminder === 'settled' ? 'reminder' : 'email'
}

function isNewAnswer(last: Answer, answer: Answer): boolean {
  return (
    last.status !== answer.status ||
    last.codes.join() !== answer.codes.join() ||
    last.detail !== answer.detail
  )
}

function describeAnswer({ status, codes, reason, detail }: Answer): string {
  if (status === 'clean') return 'Not listed.'
  if (status === 'unknown') return `The list could not be checked: ${detail ?? 'no answer'}`
  return `Listed: ${codes.join(', ')}${reason === null ? '.' : ` (${reason}).`}`
}

function describeConsequence(before: StepRow, after: StepState): string | null {
  if (after.status === 'completed') return 'Delisted.'
  if (after.status === 'failed') return 'Failed: the deadline has passed.'
  if (after.cleanAt && !before.cleanAt) return 'A second check will confirm this.'
  if (after.needs && after.needs !== before.needs) return NEED_EVENTS[after.needs]
  const [obstacle] = after.obstacles
  return obstacle !== undefined && obstacle !== before.obstacles[0] ? obstacle : null
}

const NEED_EVENTS: Record<NonNullable<StepState['needs']>, string> = {
  mend: 'A problem must be fixed first.',
  confirm: 'Cause and fix needed from you.',
  submit: 'The text for the form is ready. Submit it.',
  send: 'The email is ready. Send it.',
}
