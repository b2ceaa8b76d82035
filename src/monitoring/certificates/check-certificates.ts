import type { PrivateTargets } from '../../setting-values.ts'
import { parseHost } from '../../net/address.ts'
import type { Resolver } from '../../net/dns.ts'
import { checkTarget } from '../../net/guard.ts'
import { STARTTLS_PORTS } from '../../net/tls/starttls.ts'
import { probeTls, type TlsFacts } from '../../net/tls/probe-tls.ts'
import { trustReasons } from '../../net/tls/trust-reasons.ts'
import { endOf } from '../../net/tls/trusted-path.ts'
import type { Observation } from '../facts/observation.ts'
import { HANDSHAKE_DEADLINE_MS } from '../limits.ts'
import type { ClaimedHost } from '../checks/host-checks.sql.ts'
import { DAY_MS } from '../../time.ts'

export type CertificateState =
  | 'valid'
  | 'expiring'
  | 'expiring-soon'
  | 'expired'
  | 'not-yet-valid'
  | 'wrong-host'
  | 'untrusted'

export type CertificateDetail = {
  validFrom: string
  /** When the first certificate of the chain expires. */
  validTo: string
  /** The certificate of the chain that expires before the server’s own; undefined as a rule. */
  endsWith?: string | undefined
  issuer: string
  names: string[]
  fingerprint256: string
  /** OpenSSL’s error code for the chain. */
  trustError: string | null
  /** Why the chain is not trusted, in sentences. */
  trustReason?: string | undefined
  /** Milliseconds that the one before had left when this one replaced it, if it was in its last third. */
  renewedWithLeftMs?: number | undefined
}

export type CertificateDeps = { resolver: Resolver; allowPrivate: PrivateTargets }

/** Reads the certificate of each monitored port; null for a port that could not be reached. */
export async function checkCertificates(
  { host, tlsPorts }: ClaimedHost,
  deps: CertificateDeps,
  signal: AbortSignal,
  now?: Date,
): Promise<Map<number, Observation<CertificateDetail>>> {
  const seen = tlsPorts.map(
    async (port) =>
      [port, await checkPort(host, port, deps, signal, now).catch(() => null)] as const,
  )
  return new Map(await Promise.all(seen))
}

async function checkPort(
  host: string,
  port: number,
  deps: CertificateDeps,
  outer: AbortSignal,
  now = new Date(),
): Promise<Observation<CertificateDetail>> {
  const signal = AbortSignal.any([outer, AbortSignal.timeout(HANDSHAKE_DEADLINE_MS)])
  const target = await checkTarget(parseHost(host), deps, signal)
  const facts = await probeTls({ target, port, starttls: STARTTLS_PORTS[port], signal })
  return { state: stateOf(facts, now), detail: detailOf(facts) }
}

function detailOf(facts: TlsFacts): CertificateDetail {
  const {
    chain: [leaf],
    path,
    trustError,
    isTrusted,
  } = facts
  const end = endOf(path)
  return {
    validFrom: leaf.validFrom.toISOString(),
    validTo: end.validTo.toISOString(),
    ...(end !== leaf && { endsWith: end.subject.CN ?? end.subject.O ?? 'unnamed' }),
    issuer: leaf.issuer.O ?? leaf.issuer.CN ?? '',
    names: leaf.subjectAltNames.slice(0, 20),
    fingerprint256: leaf.fingerprint256,
    trustError: isTrusted ? null : trustError,
    ...(!isTrusted && { trustReason: trustReasons(facts).join(' ') }),
  }
}

/** The most severe state that applies: present problems come before future ones. */
export function stateOf(
  { path, hostnameMatches, isTrusted }: Pick<TlsFacts, 'path' | 'hostnameMatches' | 'isTrusted'>,
  now: Date,
): CertificateState {
  const end = endOf(path)
  const remaining = end.validTo.getTime() - now.getTime()
  if (remaining <= 0) return 'expired'
  if (path.some(({ validFrom }) => validFrom > now)) return 'not-yet-valid'
  if (!hostnameMatches) return 'wrong-host'
  if (!isTrusted) return 'untrusted'
  const { soon, verySoon } = warnAt(end.validTo.getTime() - end.validFrom.getTime())
  if (remaining <= verySoon) return 'expiring-soon'
  return remaining <= soon ? 'expiring' : 'valid'
}

/**
 * Remaining milliseconds at which a certificate counts as expiring. Automatic renewal happens after
 * two thirds of the lifetime, so with a quarter left it has failed.
 * @param lifetime in milliseconds
 */
export function warnAt(lifetime: number): { soon: number; verySoon: number } {
  return {
    soon: Math.min(21 * DAY_MS, lifetime / 4),
    verySoon: Math.min(5 * DAY_MS, lifetime / 10),
  }
}

/** Whether a state follows from the clock alone, so that one observation is enough. */
export function dependsOnTimeAlone(state: string): boolean {
  return state === 'expiring' || state === 'expiring-soon' || state === 'expired'
}
