import type { Kysely } from 'kysely'
import type { TSchema } from 'typebox'
import type { PrivateTargets } from '../../config.ts'
import type { Resolver } from '../../net/dns.ts'
import type { Relay } from '../../net/smtp.ts'
import type { DB } from '../../store/tables.ts'
import type { AlertRow } from '../store.ts'
import type { ChannelRow } from './store.ts'

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
}

export type OutgoingMessage = {
  /** The same at every attempt, so that a receiver can recognise a duplicate. */
  id: string
  channel: ChannelRow
  /** One alert, or several where the type collects them. */
  alerts: readonly AlertRow[]
  /**
   * Called right before the receiver may accept the message; throws where another sender has it.
   */
  beforeHandover: () => Promise<void>
}

/**
 * One way to send alerts. A new type is a file that defines one of these, its name in
 * `CHANNEL_TYPE_NAMES`, and its two entries in `channels/registry.ts`.
 */
export type ChannelType<Body = never> = {
  /** Request body of a new channel: `type`, the target and the common settings. */
  schema: TSchema
  /** The API field that shows the target; those of all other types are null. */
  targetField: 'address' | 'url'
  /** Whether alerts are collected into one message, or each is sent alone. */
  isBatched: boolean
  /** Whether targets are email addresses, which are confirmed with a mailed code. */
  isEmail: boolean
  /** Milliseconds for one attempt, and for one that a person is waiting for. */
  deadlineMs: number
  testDeadlineMs: number
  /**
   * Validates and normalizes the target of a new channel.
   * @throws Fault `invalid_request`, `target_not_allowed`
   */
  parseTarget(body: Body, deps: Pick<SendDeps, 'allowPrivate'>): string
  /** The secret that a new channel shows once; null where there is none. */
  createSecret(): string | null
  /** Why no channel of this type can send at the moment; null where it can. */
  problem(deps: Pick<SendDeps, 'relay'>): string | null
  /** The target without its secret parts, for members who may only read. */
  maskTarget(target: string): string
  /** Short name of a target in alerts about the channel. */
  describeTarget(target: string): string
  /** @throws Fault with the receiver’s error where it did not accept the message */
  send(message: OutgoingMessage, deps: SendDeps, signal: AbortSignal): Promise<void>
  /** Whether retrying after this error is pointless. */
  isFinal(error: unknown): boolean
  /** Whether the receiver wants no further messages, so that the channel is disabled. */
  isGone(error: unknown): boolean
}
