import type { Kysely } from 'kysely'
import type { TObject, TSchema } from 'typebox'
import type { PrivateTargets } from '../../setting-values.ts'
import type { Resolver } from '../../net/dns.ts'
import type { Relay } from '../../net/smtp.ts'
import type { DB } from '../../store/tables.ts'
import type { AlertRow } from '../alerts.sql.ts'
import type { ChannelRow, PreparedChannel } from './channel.ts'

/** Everything a channel type may need to validate a target and to send to it. */
export type SendDeps = {
  db: Kysely<DB>
  secretKey: string
  /** Null where this service sends no email. */
  relay: Relay | null
  /** Public URL of the service, for links. */
  baseUrl: string
  /** For the hosts of webhooks. */
  resolver: Resolver
  allowPrivate: PrivateTargets
  /** Private networks that self-hosted services of alerts may be in. */
  alertPrivate: PrivateTargets
  /** Other origins of hosted services, such as a proxy or a fake. */
  origins: ReadonlyMap<string, string>
}

/** Who handles the incident of an alert that was sent before. */
export type Handling = {
  state: 'open' | 'acknowledged' | 'snoozed'
  /** “Acknowledged by alice@example.com”; null where no one does. */
  line: string | null
}

export type OutgoingMessage = {
  /** The same at every attempt, so that a receiver can recognise a duplicate. */
  id: string
  channel: ChannelRow
  /** One alert, or several where the type collects them. */
  alerts: readonly AlertRow[]
  /** The message at the service about the incident of the only alert; null where there is none. */
  ref: string | null
  /** Only shows who handles the incident; a new message otherwise. */
  handling?: Handling
  /**
   * Called right before the receiver may accept the message; throws where another sender has it.
   */
  beforeHandover: () => Promise<void>
}

export type SendResult = {
  /** ID of the message at the service, where it can be changed later. */
  ref?: string | undefined
  /** Settings that the service replaced, such as the ID of a group that became a supergroup. */
  changed?: Record<string, string> | undefined
  /** The response of the service, for a test. */
  words?: string | undefined
}

/** Where the dashboard lists a channel type. */
export type ChannelGroup = 'basic' | 'chat' | 'push' | 'paging' | 'other'

export type ChannelManual = {
  /** What the end of a problem does, in a sentence. */
  ending: string
  /** Responses that disable the channel, in a sentence. */
  disabling: string
  /** Characters of title and text, and messages a minute. */
  limits: { title: number; text: number; perMinute: number }
}

/**
 * One way to send alerts. Types with encrypted settings are made by `defineChannel`; all are listed
 * in `channel-types.ts`.
 */
export type ChannelType = {
  id: string
  name: string
  group: ChannelGroup
  /** Further words by which people look for it. */
  keywords: string
  /** What to create at the service, in a sentence. */
  docs: string
  /** What only the docs page says; null where the type has no page of its own. */
  manual: ChannelManual | null
  /** The settings, as the form shows them. */
  fields: TObject
  /** Request body of a new channel: `type`, the settings and the common settings. */
  schema: TSchema
  /** The API field that shows the target; those of all other types are null. */
  targetField: 'address' | 'url' | null
  /**
   * Whether alerts are collected into one message: always (`digest`), only when there are many
   * (`bursts`), or never, as paging services need each alone.
   */
  grouping: 'digest' | 'bursts' | 'never'
  /** Messages a minute; null without a limit. Messages of such a channel are sent in order. */
  perMinute: number | null
  /** Milliseconds before each retry; after the last one the message fails. */
  retryDelaysMs: readonly number[]
  /** Milliseconds after which a message is given up, and counted in a later one; null for never. */
  giveUpAfterMs: number | null
  /** Whether the receiver recognises a repeated message. */
  isIdempotent: boolean
  /** Whether the service can show who handles an incident: it is acknowledged, or a message edited. */
  showsHandling: boolean
  /** Whether messages have room for links with which people act on an incident. */
  hasActionLinks: boolean
  /** Whether targets are email addresses, which are confirmed with a mailed code. */
  isEmail: boolean
  /** Milliseconds for one attempt, and for one that a person is waiting for. */
  deadlineMs: number
  testDeadlineMs: number
  /**
   * Validates, normalizes and encrypts the settings of a new channel.
   * @throws Fault `invalid_request`, `target_not_allowed`
   */
  prepare(id: string, body: NewChannelRequest, deps: SendDeps): PreparedChannel
  /**
   * Merges changed settings into those of a channel.
   * @throws Fault `invalid_request`, `target_not_allowed`
   */
  change?(channel: ChannelRow, given: Record<string, string>, deps: SendDeps): PreparedChannel
  /** The key that a new channel shows once; null where there is none. */
  secretOf(channel: ChannelRow, secretKey: string): string | null
  /** Why no channel of this type can send at the moment; null where it can. */
  problem(deps: Pick<SendDeps, 'relay'>): string | null
  /** What a channel sends to, with its secret parts; for types without `targetField` nothing. */
  targetOf(channel: ChannelRow, secretKey: string): string
  /** The stored target without its secret parts, for members who may only read. */
  maskTarget(target: string): string
  /** Short name of a channel, without secrets. */
  nameOf(channel: Pick<ChannelRow, 'target' | 'settingsShown'>): string
  /** @throws Fault, Later, Dead or Rejected where the receiver did not accept the message */
  send(message: OutgoingMessage, deps: SendDeps, signal: AbortSignal): Promise<SendResult>
  /** Whether retrying after this error is pointless. */
  isFinal(error: unknown): boolean
  /** Whether the receiver wants no further messages, so that the channel is disabled. */
  isGone(error: unknown): boolean
}

type NewChannelRequest = {
  address?: string
  url?: string
  settings?: Record<string, string>
}
