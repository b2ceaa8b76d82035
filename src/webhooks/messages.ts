// Texts of alerts about webhook endpoints.
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS } from '../time.ts'

type AlertText = { title: string; text: string; nextStep: string }

const counted = (count: number) =>
  `${count.toLocaleString('en')} ${count === 1 ? 'request' : 'requests'}`

/** `2026-11-24 20:05 UTC` */
const timeText = (at: Date) => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`

/** `45 minutes`, `3 hours`, `2 days`: whole units, up to two of a unit in the smaller one. */
function durationText(seconds: number): string {
  const units = [
    [DAY_SECONDS, 'days'],
    [HOUR_SECONDS, 'hours'],
    [MINUTE_SECONDS, 'minutes'],
  ] as const
  const [size, name] = units.find(([unit]) => seconds >= 2 * unit) ?? units[2]
  const count = Math.max(1, Math.round(seconds / size))
  return `${count} ${count === 1 ? name.slice(0, -1) : name}`
}

/** @param since time of the last alert; null for the first one */
export function describeCalls(
  name: string,
  count: number,
  since: Date | null,
  lastAt: Date,
): AlertText {
  const received = `${name} received ${counted(count)}`
  return {
    title: received,
    text: `${received}${since ? ` since ${timeText(since)}` : ''}. The last one arrived at ${timeText(lastAt)}.`,
    nextStep: '',
  }
}

export function describeSilence(name: string, lastAt: Date, silentMinutes: number): AlertText {
  const limit = durationText(silentMinutes * MINUTE_SECONDS)
  return {
    title: `${name} received no request for ${limit}`,
    text: `The last request arrived at ${timeText(lastAt)}. The endpoint expects one at least every ${limit}.`,
    nextStep: 'Check whether the sender still runs and still has this URL.',
  }
}

export function describeResumed(name: string, since: Date, until: Date): AlertText {
  const pause = durationText((until.getTime() - since.getTime()) / 1000)
  return {
    title: `Resolved: ${name} receives requests again`,
    text: `A request arrived at ${timeText(until)}, after ${pause} without one.`,
    nextStep: '',
  }
}

export function describeBadSignatures(
  name: string,
  count: number,
  lastAt: Date,
  reason: string,
): AlertText {
  return {
    title: `${name} received ${counted(count)} without a valid signature`,
    text: `The last one arrived at ${timeText(lastAt)}. ${reason}`,
    nextStep:
      'Compare the secret with that of the sender. If it is the same, someone else knows the URL: do not trust these requests.',
  }
}

export function describeGoodSignatures(name: string): AlertText {
  return {
    title: `Resolved: the signatures of ${name} are valid`,
    text: 'Requests with valid signatures arrived, and none without for an hour.',
    nextStep: '',
  }
}

export function describeDestinationFailing(name: string, since: Date, error: string): AlertText {
  return {
    title: `Requests can’t be forwarded to ${name}`,
    text: `Every attempt since ${timeText(since)} failed. ${error}`,
    nextStep: 'Check the receiver. Requests wait and are sent again, for up to three days each.',
  }
}

export function describeDestinationOff(name: string, reason: string): AlertText {
  return {
    title: `Forwarding to ${name} is off`,
    text: `${reason} Its deliveries are held for 7 days.`,
    nextStep: 'Correct the URL or the receiver, then resume the destination.',
  }
}

export function describeDestinationRecovered(name: string, since: Date): AlertText {
  return {
    title: `Resolved: requests are forwarded to ${name} again`,
    text: `Attempts had failed since ${timeText(since)}.`,
    nextStep: '',
  }
}

export function describeQueueFull(name: string): AlertText {
  return {
    title: `Too many requests wait for ${name}`,
    text: 'New requests are captured, but not forwarded, until fewer wait.',
    nextStep:
      'Check the receiver. Dropped deliveries can be retried while their request is stored.',
  }
}

export function describeQueueRoom(name: string): AlertText {
  return {
    title: `Resolved: the queue of ${name} has room again`,
    text: 'New requests are forwarded again.',
    nextStep: '',
  }
}
