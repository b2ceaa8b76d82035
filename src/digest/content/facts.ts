import type {
  AlertCounts,
  DigestAlert,
  FailingChannel,
  OpenProblem,
} from '../../alerts/alerts-digest.sql.ts'
import type { ExpiringToken } from '../../accounts/accounts-digest.sql.ts'
import type { OwnReports } from '../../abuse/abuse-digest.sql.ts'
import type {
  ChangedSource,
  ComparedDays,
  DomainComparison,
  FailingMailbox,
  SilentDomain,
  UnprovenDomain,
} from '../../dmarc/dmarc-digest.sql.ts'
import type { EndedMigrations } from '../../migration/migration-digest.sql.ts'
import type {
  HostCertificate,
  HostChange,
  ListedHost,
  UncheckedHost,
} from '../../monitoring/monitoring-digest.sql.ts'
import type { Bounded, Period } from '../../store/bounded.ts'
import type { FailingEndpoint, SilentEndpoint } from '../../webhooks/webhooks-digest.sql.ts'
import type { Settings } from '../digest-subscriptions.sql.ts'

export type BadDomain = { domain: string; sentence: string }
export type DomainChange = {
  domain: string
  at: Date
  name: string
  type: string
  before: string[]
  after: string[]
}
export type WaitingDelisting = { id: string; ip: string; steps: number; lists: string[] }
export type EndedDelisting = {
  id: string
  ip: string
  status: 'completed' | 'failed'
  steps: number
  removed: number
}

/** Objects in a state that needs attention, with or without an open problem. */
export type AttentionFacts = {
  listed: Bounded<ListedHost>
  certificates: Bounded<HostCertificate>
  domains: Bounded<BadDomain>
  delistings: Bounded<WaitingDelisting>
  silentDomains: Bounded<SilentDomain>
  unprovenDomains: Bounded<UnprovenDomain>
  mailboxes: Bounded<FailingMailbox>
  silentEndpoints: Bounded<SilentEndpoint>
  channels: Bounded<FailingChannel>
  unchecked: Bounded<UncheckedHost>
}

/** What changed in the period. */
export type ChangeFacts = {
  counts: AlertCounts
  alerts: Bounded<DigestAlert>
  listings: Bounded<HostChange>
  delistings: Bounded<EndedDelisting>
  certificates: Bounded<HostChange>
  renewed: Bounded<HostCertificate>
  records: Bounded<HostChange>
  domainRecords: Bounded<DomainChange>
  migrations: EndedMigrations
  webhooks: Bounded<FailingEndpoint>
}

/** Everything that one digest is composed from. */
export type DigestFacts = {
  workspaceId: string
  workspace: string
  settings: Settings
  period: Period
  /** The next digest; null for a test or a preview of a digest that is off. */
  nextAt: Date | null
  days: ComparedDays
  /** The most severe first. */
  open: Bounded<OpenProblem>
  attention: AttentionFacts
  changes: ChangeFacts
  dmarc: Bounded<DomainComparison>
  /** Null when they could not be read in time. */
  sources: ChangedSource[] | null
  attacks: OwnReports
  expiring: { certificates: Bounded<HostCertificate>; tokens: Bounded<ExpiringToken> }
  monitored: { hosts: number; domains: number }
}
