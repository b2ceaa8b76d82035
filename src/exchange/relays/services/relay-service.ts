import type { PrivateTargets } from '../../../setting-values.ts'
import type { Resolver } from '../../../net/dns.ts'
import type { Relay as MailRelay } from '../../../net/smtp.ts'

export const RELAY_SERVICES = ['abuseipdb', 'blocklist-de', 'dshield'] as const
export type RelayServiceId = (typeof RELAY_SERVICES)[number]

/** What a service gets about an address: what the reporter sent. */
export type OutgoingReport = {
  address: string
  /** Ids of the attacked services. */
  services: string[]
  port: number | null
  count: number
  reportedAt: Date
}

export type RelayCredentials = { account: string; key: string }

export type SendDeps = {
  resolver: Resolver
  allowPrivate: PrivateTargets
  /** Null where this installation sends no email. */
  mailRelay: MailRelay | null
  /** Other origins of the services, for tests. */
  origins?: ReadonlyMap<string, string> | undefined
  /** Called right before the service may get the reports. */
  beforeHandover: () => Promise<void>
}

export type RelayOutcome =
  | { state: 'sent' }
  | { state: 'rejected'; reason: string }
  /** The address was reported too recently; it waits for its interval. */
  | { state: 'too-soon' }
  /** The service is busy, or its limit is used up. */
  | { state: 'paused'; reason: string; seconds: number | null }
  /** It does not accept the credentials: nothing is sent until they change. */
  | { state: 'stopped'; reason: string }

/** A service that accepts reports of attackers. */
export type RelayService = {
  id: RelayServiceId
  name: string
  homepage: string
  /** The label of the account field; null where the key is enough. */
  accountLabel: string | null
  keyLabel: string
  accountPattern: RegExp | null
  keyPattern: RegExp
  perDay: number
  /** Seconds between two reports of one address. */
  addressSeconds: number
  /** Seconds between two requests. */
  intervalSeconds: number
  /** Reports per request. */
  batchSize: number
  /** Whether it is sent by email. */
  needsMail: boolean
  /**
   * Sends reports.
   * @throws Fault when the service does not answer
   */
  send(
    reports: OutgoingReport[],
    credentials: RelayCredentials,
    deps: SendDeps,
    signal: AbortSignal,
  ): Promise<RelayOutcome>
  /**
   * Checks credentials without a report. @returns what was found, as a sentence
   * @throws Fault when they are not accepted
   */
  test(
    credentials: RelayCredentials,
    deps: Omit<SendDeps, 'beforeHandover'> & { email: string },
    signal: AbortSignal,
  ): Promise<string>
}

/** The URL of a service, or where tests have it. */
export function serviceUrl(url: string, { origins }: Pick<SendDeps, 'origins'>): URL {
  const { origin, pathname, search } = new URL(url)
  return new URL(`${origins?.get(origin) ?? origin}${pathname}${search}`)
}

/** Whether a body is a JSON document, as services answer that are asked for one. */
export function isJson(body: string): boolean {
  try {
    return typeof JSON.parse(body) === 'object'
  } catch {
    return false
  }
}
