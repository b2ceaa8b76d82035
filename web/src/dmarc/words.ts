import { dayText } from '../ui/charts/daily-chart.tsx'
import type { Tone } from '../ui/feedback/status.tsx'
import { counted, numberText } from '../ui/text/format.ts'
import type { SourceGroup, Report, Source, SourceDetail, Summary } from './api.ts'

export const READINESS_TONES: Record<Summary['readiness']['verdict'], Tone> = {
  'no-data': 'info',
  'too-early': 'info',
  'not-ready': 'warn',
  ready: 'good',
  enforced: 'good',
}

export const ADVICE_TONES: Record<SourceDetail['advice']['verdict'], Tone> = {
  'no-data': 'info',
  good: 'good',
  half: 'warn',
  forwarder: 'info',
  partly: 'warn',
  failing: 'bad',
}

/** Nobody delivers mail to `localhost` or to a bare address, which is where a Portreeve without settings runs. */
export function canReceiveMail(email: string): boolean {
  return /@.+\.[a-z][a-z\d-]*$/i.test(email)
}

/** A verdict in two parts: the answer, and what belongs to it. */
export function partsOf(sentence: string): { verdict: string; rest: string | null } {
  const at = sentence.indexOf('; ')
  if (at < 0) return { verdict: sentence.replace(/\.$/, ''), rest: null }
  const rest = sentence.slice(at + 2)
  return { verdict: sentence.slice(0, at), rest: rest.charAt(0).toUpperCase() + rest.slice(1) }
}

type GroupWords = { title: string; words: string }

/** Those first that want somebody's attention. */
export const GROUPS: Record<SourceGroup, GroupWords> = {
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

type Counted = { messages: number; fail: number }

/** How a source fares, at a glance. */
export function sourceTone({ pass, fail }: Pick<Source, 'pass' | 'fail'>): Tone {
  return fail === 0 ? 'good' : pass === 0 ? 'bad' : 'warn'
}

/** What the chart shows. */
export function describeDays({ days, totals }: Pick<Summary, 'days'> & { totals: Counted }): string {
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
export function describeSource({ sourceIp, reverseName, reverseConfirmed, asn, asName }: Source): string {
  return [
    reverseName !== null && reverseConfirmed && sourceIp,
    reverseName !== null && !reverseConfirmed && `calls itself ${reverseName}`,
    describeNetwork({ asn, asName }),
  ]
    .filter(Boolean)
    .join(' · ')
}

/** The name of an address, and how far it is to be believed. */
export function describeReverseName({ reverseName, reverseConfirmed }: Source): string {
  if (reverseName === null) return 'None is known in the DNS.'
  return reverseConfirmed ? reverseName : `${reverseName}, which does not lead back to the address: anybody may say so.`
}

export function describeNetwork({ asn, asName }: Pick<Source, 'asn' | 'asName'>): string | null {
  return asn === null ? null : `AS${asn}${asName ? ` ${asName}` : ''}`
}

/** One report in a sentence. */
export function describeReport({ orgName, totals }: Pick<Report, 'orgName' | 'totals'>): {
  tone: Tone
  sentence: string
} {
  const { messages, fail, outside } = totals
  const other = outside === 1 ? 'is of another domain' : 'are of other domains'
  const beside = outside > 0 ? ` ${numberText(outside)} of them ${other}, and not in the summary.` : ''
  if (messages === 0) return { tone: 'info', sentence: `${orgName} has seen no message of the domain.` }
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

export function describeVia(via: Report['via']): string | null {
  return via === null ? null : VIAS[via]
}
