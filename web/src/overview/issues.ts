import type { LinkProps } from '@tanstack/react-router'
import type { Channel } from '../alerts/api.ts'
import { targetOf } from '../alerts/words.ts'
import type { Appeals, Hold } from '../attacks/api.ts'
import type { Case } from '../delisting/api.ts'
import { needing } from '../delisting/words.ts'
import type { Domain, Mailbox } from '../dmarc/api.ts'
import { isOpen, type Listed } from '../migrations/api.ts'
import type { Host } from '../monitoring/api.ts'
import { counted } from '../ui/text/format.ts'

/** Something that goes on only when a person looks at it, and where they do. */
export type Issue = {
  key: string
  tone: 'bad' | 'warn'
  sentence: string
  /** What stands on its button. */
  action: string
  link: Pick<LinkProps, 'to' | 'params' | 'search'>
}

/** What the rooms know of the person's things; of appeals and a list held back only administrators are told. */
export type OverviewData = {
  hosts: Host[]
  cases: Case[]
  migrations: Listed[]
  domains: Domain[]
  mailboxes: Mailbox[]
  channels: Channel[]
  appeals: Appeals['appeals']
  hold: Hold
  /** How many addresses wait for an administrator before they are listed. */
  candidates: number
}

/** Days after which a migration that failed is no news any more. */
const FAILED_MIGRATION_DAYS = 14

/** What needs the person, gravest first. */
export function findIssues(things: OverviewData, now = Date.now()): Issue[] {
  const isNews = ({ createdAt }: Listed) => now - Date.parse(createdAt) < FAILED_MIGRATION_DAYS * 86_400_000
  const needs = [
    ...things.hosts.filter(({ status }) => status === 'listed').map(listedHost),
    ...things.migrations.filter((it) => it.status === 'failed' && !it.dryRun && isNews(it)).map(failedMigration),
    ...things.mailboxes.filter(({ failingSince }) => failingSince !== null).map(failingMailbox),
    ...silentChannels(things.channels),
    ...things.cases.flatMap(waitingCase),
    ...things.domains.filter(({ verified }) => !verified).map(unverifiedDomain),
    ...administrationNeeds(things),
  ]
  return needs.toSorted((one, other) => Number(one.tone === 'warn') - Number(other.tone === 'warn'))
}

function listedHost({ id, host, listedCount }: Host): Issue {
  return {
    key: id,
    tone: 'bad',
    sentence: `${host} is listed on ${counted(listedCount, 'blacklist')}.`,
    action: 'See where',
    link: { to: '/monitoring/$id', params: { id } },
  }
}

function failedMigration({ migrationId: id, srcUser, errorCount }: Listed): Issue {
  return {
    key: id,
    tone: 'bad',
    sentence: `The migration of ${srcUser} ended with ${counted(errorCount, 'error')}.`,
    action: 'Try again',
    link: { to: '/migrations/$id', params: { id } },
  }
}

function waitingCase(it: Case): Issue[] {
  const waiting = needing(it).length
  if (waiting === 0) return []
  const steps = `${counted(waiting, 'step')} ${waiting === 1 ? 'waits' : 'wait'} for you`
  return [
    {
      key: it.id,
      tone: 'warn',
      sentence: `${it.ip} is to leave the blacklists: ${steps}.`,
      action: 'Go on',
      link: { to: '/delisting/$id', params: { id: it.id } },
    },
  ]
}

function failingMailbox({ id, user, host }: Mailbox): Issue {
  return {
    key: id,
    tone: 'bad',
    sentence: `The mailbox ${user} on ${host} cannot be read for reports.`,
    action: 'See why',
    link: { to: '/dmarc/mailboxes' },
  }
}

const SILENCE: Partial<Record<Channel['status'], [Issue['tone'], why: string]>> = {
  unconfirmed: ['warn', 'wait for the code that was mailed there'],
  disabled: ['bad', 'were switched off after failures'],
  undeliverable: ['bad', 'reach nobody, because no mail goes out'],
}

/** That no mail goes out is no trouble to who is told elsewhere. */
function silentChannels(channels: Channel[]): Issue[] {
  const isTold = channels.some(({ status }) => status === 'active')
  return channels.filter(({ status }) => !(isTold && status === 'undeliverable')).flatMap(silentChannel)
}

function silentChannel(channel: Channel): Issue[] {
  const silence = SILENCE[channel.status]
  if (!silence) return []
  const [tone, why] = silence
  const sentence = `Alerts to ${targetOf(channel)} ${why}.`
  return [{ key: channel.id, tone, sentence, action: 'Look', link: { to: '/alerts/channels' } }]
}

function unverifiedDomain({ id, domain }: Domain): Issue {
  return {
    key: id,
    tone: 'warn',
    sentence: `${domain} is not verified yet: its record is to be published.`,
    action: 'See the record',
    link: { to: '/dmarc/$id/record', params: { id } },
  }
}

function administrationNeeds({ appeals, hold, candidates }: OverviewData): Issue[] {
  const link = { to: '/attacks/administration' } as const
  const open = appeals.filter(({ status }) => status === 'open').length
  const held = 'A new list of attackers is held back: it differs too much from the last.'
  return [
    ...(hold && !hold.approved ? [{ key: 'hold', tone: 'warn', sentence: held, action: 'Decide', link } as const] : []),
    ...(open > 0
      ? [
          {
            key: 'appeals',
            tone: 'warn',
            sentence: `${counted(open, 'appeal')} to decide.`,
            action: 'Decide',
            link,
          } as const,
        ]
      : []),
    ...(candidates > 0
      ? [
          {
            key: 'candidates',
            tone: 'warn',
            sentence: `${counted(candidates, 'reported address', 'reported addresses')} to list or discard.`,
            action: 'Decide',
            link,
          } as const,
        ]
      : []),
  ]
}

/** `2 things need you`. */
export function issuesTitle(needs: readonly Issue[]): string {
  if (needs.length === 0) return 'Nothing needs you'
  return `${counted(needs.length, 'thing')} ${needs.length === 1 ? 'needs' : 'need'} you`
}

/** What goes on by itself. */
export function findInProgress({ cases, migrations }: Pick<OverviewData, 'cases' | 'migrations'>): {
  cases: Case[]
  migrations: Listed[]
} {
  const isGoingOn = (it: Case) => (it.status === 'pending' || it.status === 'in-progress') && needing(it).length === 0
  return { cases: cases.filter(isGoingOn), migrations: migrations.filter(isOpen) }
}
