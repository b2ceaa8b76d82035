import type { Tone } from '../ui/feedback/status.tsx'
import { counted, durationText, numberText } from '../ui/text/format.ts'
import type { HostChange, Host, HostDetail, Listing, ListMode } from './api.ts'

type Standing = { tone: Tone; word: string }

const STANDINGS: Record<Host['status'], Standing> = {
  pending: { tone: 'info', word: 'Looking' },
  clean: { tone: 'good', word: 'Clean' },
  listed: { tone: 'bad', word: 'Listed' },
  unknown: { tone: 'unknown', word: 'Unknown' },
}

/** How a host stands, in a word. */
export function hostState({ status }: Pick<Host, 'status'>): Standing {
  return STANDINGS[status]
}

const ORDER: Host['status'][] = ['listed', 'unknown', 'pending', 'clean']

export function worstFirst(hosts: Host[]): Host[] {
  return hosts.toSorted((one, other) => ORDER.indexOf(one.status) - ORDER.indexOf(other.status))
}

/** All hosts in one sentence. */
export function summarizeHosts(hosts: Pick<Host, 'status'>[]): { tone: Tone; sentence: string } {
  const of = (status: Host['status']) => hosts.filter((host) => host.status === status).length
  const [listed, unknown, pending] = [of('listed'), of('unknown'), of('pending')]
  const doubt = unknown > 0 ? ` Of ${numberText(unknown)} it could not be told.` : ''
  if (listed > 0) return { tone: 'bad', sentence: `${someOf(listed, hosts.length)} listed.${doubt}` }
  if (unknown > 0) return { tone: 'unknown', sentence: `None is known to be listed.${doubt}` }
  if (pending === hosts.length) return { tone: 'info', sentence: 'The first look is under way.' }
  return { tone: 'good', sentence: hosts.length === 1 ? 'Your host is on no blacklist.' : 'No host is on a blacklist.' }
}

function someOf(count: number, all: number): string {
  if (all === 1) return 'Your host is'
  return `${numberText(count)} of your ${numberText(all)} hosts ${count === 1 ? 'is' : 'are'}`
}

/** How many lists said what; empty while none was asked. */
export function describeAnswers({ listedCount, unknownCount, totalChecked }: Host): string {
  if (totalChecked === 0) return ''
  const parts = [
    listedCount > 0 && counted(listedCount, 'listing'),
    unknownCount > 0 && `${numberText(unknownCount)} unknown`,
    `${numberText(totalChecked)} asked`,
  ]
  return parts.filter(Boolean).join(', ')
}

/** One host in a sentence or two. */
export function summarizeHost({ host, status, detail, listings, listedCount, lastCheckAt }: HostDetail): string {
  if (lastCheckAt === null) return `${host} is being looked at for the first time.`
  const suspected = listings.filter(({ state }) => state === 'suspected').length
  const perhaps =
    suspected > 0
      ? ` ${countedLists(suspected)} more said so once and ${suspected === 1 ? 'is' : 'are'} asked again.`
      : ''
  if (status === 'listed') return `${host} is listed on ${countedLists(listedCount)}.${perhaps}`
  if (status === 'unknown') return `Nobody can say whether ${host} is listed. ${detail ?? ''}`.trim()
  return perhaps ? `${host} is not known to be listed.${perhaps}` : `${host} is on no blacklist.`
}

function countedLists(count: number): string {
  return counted(count, 'blacklist')
}

export const MODE_NAMES: Record<ListMode, string> = { alert: 'Tell me', watch: 'Write it down', mute: 'Do not ask' }

export const LISTING_STATES: Record<Listing['state'], Standing> = {
  listed: { tone: 'bad', word: 'Listed' },
  suspected: { tone: 'warn', word: 'Seen once' },
  clearing: { tone: 'info', word: 'Leaving' },
}

const CERTIFICATES: Record<string, Standing> = {
  valid: { tone: 'good', word: 'Valid' },
  expiring: { tone: 'warn', word: 'Expires' },
  'expiring-soon': { tone: 'bad', word: 'Expires soon' },
  expired: { tone: 'bad', word: 'Expired' },
  'not-yet-valid': { tone: 'bad', word: 'Not valid yet' },
  'wrong-host': { tone: 'bad', word: 'For another host' },
  untrusted: { tone: 'bad', word: 'Not trusted' },
}

export function certificateState(state: string): Standing {
  return CERTIFICATES[state] ?? { tone: 'unknown', word: state }
}

/** What is wrong with a host's certificates, a sentence each. */
export function certificateProblems({ certificates }: Pick<HostDetail, 'certificates'>): string[] {
  return certificates.flatMap(({ port, state }) => {
    const { tone, word } = certificateState(state)
    return tone === 'good' ? [] : [`The certificate on port ${port}: ${word.toLowerCase()}.`]
  })
}

/** Rounded down: a minute of 30 days on a blacklist is not 100 %. */
export function availabilityText({ percent }: Host['availability']): string | null {
  if (percent === null) return null
  return `${percent === 0 || percent === 100 ? percent : (Math.floor(percent * 100) / 100).toFixed(2)} %`
}

/** `30 days`, for what is longer than a few hours. */
export function spanText(seconds: number): string {
  return seconds < 2 * DAY ? durationText(seconds) : counted(Math.round(seconds / DAY), 'day')
}
const DAY = 86_400

const WORDS: Record<string, string> = {
  clean: 'not listed',
  listed: 'listed',
  unknown: 'unknown',
  '': 'nothing',
}

/** `not listed → listed`, or what a record was and is. */
export function describeChange({ from, to, kind, baseline }: HostChange): string {
  const words = (state: string) =>
    kind === 'certificate' && state in CERTIFICATES
      ? certificateState(state).word.toLowerCase()
      : (WORDS[state] ?? state)
  return baseline ? words(to) : `${words(from)} → ${words(to)}`
}
