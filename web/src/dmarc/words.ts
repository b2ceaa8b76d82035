import { dayText } from '../ui/chart-days.tsx'
import type { Tone } from '../ui/status.tsx'
import { counted, numberText } from '../ui/words.ts'
import type { Group, Report, Source, Summary } from './api.ts'

export const VERDICTS: Record<Summary['readiness']['verdict'], Tone> = {
  'no-data': 'info',
  'too-early': 'info',
  'not-ready': 'warn',
  ready: 'good',
  enforced: 'good',
}

type GroupWords = { title: string; words: string }

/** Those first that want somebody's attention. */
export const GROUPS: Record<Group, GroupWords> = {
  failing: {
    title: 'Never passed',
    words: 'A sender of yours that is not set up, or somebody forging your domain.',
  },
  'partly-aligned': {
    title: 'Passed sometimes',
    words: 'Most often a sender of yours that is not set up for all it sends.',
  },
  'forwarder-like': {
    title: 'Passed on',
    words: 'Mailing lists and forwarding addresses, as the receivers say. Nothing to do.',
  },
  aligned: { title: 'Always passed', words: 'Your senders, set up as they should be.' },
}

/** Rounded down: 99.97 % is not all of it. */
export function shareText(part: number, all: number): string {
  if (all === 0) return '–'
  const share = Math.floor((part / all) * 1_000) / 10
  return `${share === 100 || share === 0 ? share : share.toFixed(1)} %`
}

/** What the chart shows. */
export function daysText({ days, totals }: Pick<Summary, 'days' | 'totals'>): string {
  const { messages, fail } = totals
  const whole = `${counted(messages, 'message')} in ${counted(days.length, 'day')}`
  if (messages === 0) return `No messages in ${counted(days.length, 'day')}.`
  if (fail === 0) return `${whole}, none of which failed.`
  const worst = days.reduce((before, day) => (day.fail > before.fail ? day : before))
  return `${whole}, of which ${numberText(fail)} failed, the most on ${dayText(worst.day)}: ${numberText(worst.fail)}.`
}

/** Who it is, as far as it can be known. */
export function sourceName({ sourceIp, reverseName, reverseConfirmed }: Source): string {
  return reverseConfirmed && reverseName !== null ? reverseName : sourceIp
}

/** What stands below its name. */
export function sourceFacts({ sourceIp, reverseName, reverseConfirmed, asn, asName }: Source): string {
  return [
    reverseName !== null && reverseConfirmed && sourceIp,
    reverseName !== null && !reverseConfirmed && `calls itself ${reverseName}`,
    asn !== null && `AS${asn}${asName ? ` ${asName}` : ''}`,
  ]
    .filter(Boolean)
    .join(' · ')
}

/** One report in a sentence. */
export function sentenceOf({ orgName, totals }: Pick<Report, 'orgName' | 'totals'>): { tone: Tone; sentence: string } {
  const { messages, fail, outside } = totals
  const beside =
    outside > 0 ? ` ${counted(outside, 'message')} of other domains ${outside === 1 ? 'is' : 'are'} not counted.` : ''
  if (messages === 0) return { tone: 'info', sentence: `${orgName} has seen no message of the domain.${beside}` }
  const seen = `${orgName} has seen ${counted(messages, 'message')}`
  if (fail === 0) return { tone: 'good', sentence: `${seen}, and every one passed.${beside}` }
  return { tone: 'warn', sentence: `${seen}, of which ${numberText(fail)} failed.${beside}` }
}

const VIAS: Record<NonNullable<Report['via']>, string> = {
  smtp: 'by mail',
  upload: 'uploaded',
  mailbox: 'out of a mailbox',
  import: 'imported',
}

export function viaText(via: Report['via']): string | null {
  return via === null ? null : VIAS[via]
}
