import type { PrivateTargets } from '../../config.ts'
import { parseHost } from '../../net/address.ts'
import type { Resolver } from '../../net/dns.ts'
import { checkTarget } from '../../net/guard.ts'
import { STARTTLS_PORTS } from '../../net/tls/starttls.ts'
import { probeTls, type TlsFacts } from '../../net/tls/probe-tls.ts'
import type { Seen } from '../facts/judge.ts'
import { HANDSHAKE_DEADLINE } from '../limits.ts'
import type { ClaimedHost } from '../looks/store.ts'

export type CertificateState =
  'valid' | 'expiring' | 'expiring-soon' | 'expired' | 'not-yet-valid' | 'wrong-host' | 'untrusted'

export type CertificateDetail = {
  validFrom: string
  validTo: string
  issuer: string
  names: string[]
  fingerprint256: string
  /** OpenSSL's code of what is wrong with the chain. */
  trustError: string | null
}

export type CertificateDeps = { resolver: Resolver; allowPrivate: PrivateTargets }

/** What each watched port shows, by port; null where none could be seen. */
export async function lookAtCertificates(
  { host, tlsPorts }: ClaimedHost,
  deps: CertificateDeps,
  signal: AbortSignal,
): Promise<Map<number, Seen<CertificateDetail>>> {
  const seen = tlsPorts.map(
    async (port) => [port, await lookAtPort(host, port, deps, signal).catch(() => null)] as const,
  )
  return new Map(await Promise.all(seen))
}

async function lookAtPort(
  host: string,
  port: number,
  deps: CertificateDeps,
  outer: AbortSignal,
): Promise<Seen<CertificateDetail>> {
  const signal = AbortSignal.any([outer, AbortSignal.timeout(HANDSHAKE_DEADLINE)])
  const target = await checkTarget(parseHost(host), deps, signal)
  const facts = await probeTls({ target, port, starttls: STARTTLS_PORTS[port], signal })
  return { state: stateOf(facts, new Date()), detail: detailOf(facts) }
}

function detailOf({ chain: [leaf], trustError, isTrusted }: TlsFacts): CertificateDetail {
  return {
    validFrom: leaf.validFrom.toISOString(),
    validTo: leaf.validTo.toISOString(),
    issuer: leaf.issuer.O ?? leaf.issuer.CN ?? '',
    names: leaf.subjectAltNames.slice(0, 20),
    fingerprint256: leaf.fingerprint256,
    trustError: isTrusted ? null : trustError,
  }
}

const DAY = 86_400_000

/** The gravest first: what is wrong now comes before what will be. */
export function stateOf({ chain: [leaf], hostnameMatches, isTrusted }: TlsFacts, now: Date): CertificateState {
  const left = leaf.validTo.getTime() - now.getTime()
  if (left <= 0) return 'expired'
  if (leaf.validFrom > now) return 'not-yet-valid'
  if (!hostnameMatches) return 'wrong-host'
  if (!isTrusted) return 'untrusted'
  const { soon, verySoon } = warnAt(leaf.validTo.getTime() - leaf.validFrom.getTime())
  if (left <= verySoon) return 'expiring-soon'
  return left <= soon ? 'expiring' : 'valid'
}

/** A certificate that renews itself does so after two thirds of its life: with a quarter left it should have. */
export function warnAt(lifetime: number): { soon: number; verySoon: number } {
  return { soon: Math.min(21 * DAY, lifetime / 4), verySoon: Math.min(5 * DAY, lifetime / 10) }
}

/** States that time alone brings about: one look is enough. */
export function isByTime(state: string): boolean {
  return state === 'expiring' || state === 'expiring-soon' || state === 'expired'
}
