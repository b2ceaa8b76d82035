import type { Resolver } from '../../net/dns.ts'
import { verifyDkim } from '../dkim/verify-dkim.ts'
import { evaluateDmarc } from '../dmarc/evaluate-dmarc.ts'
import { createDnsQueries, type DnsQueries } from '../dns-queries.ts'
import { evaluateSpf } from '../spf/evaluate-spf.ts'
import { authorDomain, parseMessage } from './message.ts'

/**
 * The authentication results of a mail, in the terms of RFC 8601: `pass`, `fail`, `none`,
 * `temperror` and so on.
 */
export type Authentication = {
  /** The domain in From; null when there is none, or more than one. */
  from: string | null
  spf: { result: string; domain: string | null }
  /** The signature that counts: an aligned one that passes, else one that passes, else the first. */
  dkim: { result: string; domain: string | null }
  dmarc: { result: string; policy: string | null }
}

export type Envelope = { ip: string; helo: string; sender: string }

/**
 * Checks SPF, DKIM and DMARC of a mail in its original form.
 * @param mail its bytes
 * @param envelope null when it is not known first-hand: then SPF is `none`
 * @param signal ends the queries; those without an answer count as `temperror`
 */
export async function authenticateMail(
  mail: Uint8Array,
  envelope: Envelope | null,
  resolver: Resolver,
  signal: AbortSignal,
): Promise<Authentication> {
  const queries = createDnsQueries(resolver, signal)
  const message = parseMessage(mail)
  const from = authorDomain(message)
  const [spf, signatures] = await Promise.all([
    envelope === null ? NONE : checkSpf(envelope, queries),
    verifyDkim(message, queries),
  ])
  const dmarc = from && (await evaluateDmarc({ from, spf, dkim: signatures }, queries))
  const dkim =
    signatures.find((signature) => dmarc && dmarc.aligned.includes(signature)) ??
    signatures.find(({ result }) => result === 'pass') ??
    signatures[0]
  return {
    from,
    spf,
    dkim: dkim ?? NONE,
    dmarc: dmarc
      ? { result: dmarc.result, policy: dmarc.policy }
      : { result: 'none', policy: null },
  }
}

const NONE = { result: 'none', domain: null }

const MAX_AUTHENTICATED_BYTES = 5 * 1024 * 1024
const MAX_HEADER_BYTES = 256 * 1024
const MAX_SIGNATURES = 20

/** Each DKIM signature costs a DNS query and a hash over the mail; legitimate mails have few. */
export function isCheapToAuthenticate(mail: Buffer): boolean {
  if (mail.length > MAX_AUTHENTICATED_BYTES) return false
  const start = mail.subarray(0, MAX_HEADER_BYTES).toString('latin1')
  const [header = ''] = start.split(/\r?\n\r?\n/, 1)
  return (header.match(/^dkim-signature[ \t]*:/gim)?.length ?? 0) <= MAX_SIGNATURES
}

/** Evaluates SPF for the envelope sender; for a bounce, for the name of HELO (RFC 7208, 2.4). */
async function checkSpf(envelope: Envelope, queries: DnsQueries): Promise<Authentication['spf']> {
  const { result } = await evaluateSpf(envelope, queries)
  const domain = (envelope.sender || envelope.helo).split('@').at(-1)?.toLowerCase()
  return { result, domain: domain || null }
}

/**
 * Evaluates SPF for the name with which a server greets (RFC 7208, 2.3), and its address.
 * @returns a result of RFC 8601; `temperror` if it was not answered in time
 */
export async function checkHelo(
  helo: string,
  ip: string,
  resolver: Resolver,
  signal: AbortSignal,
): Promise<string> {
  const { result } = await evaluateSpf({ ip, sender: '', helo }, createDnsQueries(resolver, signal))
  return result
}
