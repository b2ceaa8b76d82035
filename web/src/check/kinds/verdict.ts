import type {
  BlacklistResult,
  DnsResult,
  MailAuthResult,
  TlsResult,
} from '../../../../src/diagnostics/shapes.ts'
import type { Tone } from '../../ui/feedback/status.tsx'
import { blocklists, certificate, dns, mailAuth } from '../messages.ts'

/** A result in one sentence, with its severity. */
export type Verdict = { tone: Tone; sentence: string }

export function dnsVerdict({ unicodeDomain, status, errors, warnings }: DnsResult): Verdict {
  if (status === 'NXDOMAIN') return { tone: 'bad', sentence: dns.nameNotFound(unicodeDomain) }
  const failed = Object.keys(errors).map((type) => type.toUpperCase())
  if (failed.length > 0) return { tone: 'unknown', sentence: dns.failed(failed) }
  if (warnings.length > 0) return { tone: 'warn', sentence: dns.withIssues(warnings.length) }
  return { tone: 'good', sentence: dns.good }
}

export function mailAuthVerdict({
  unicodeDomain,
  status,
  dmarc,
  warnings,
}: MailAuthResult): Verdict {
  if (status === 'NXDOMAIN') return { tone: 'bad', sentence: mailAuth.nameNotFound(unicodeDomain) }
  if (!dmarc.found && dmarc.error)
    return { tone: 'unknown', sentence: mailAuth.unknownDmarc(dmarc.error) }
  if (!dmarc.found) return { tone: 'bad', sentence: mailAuth.noDmarc }
  const policy = mailAuth.policies[dmarc.effectivePolicy ?? 'none']
  const errorCount = warnings.filter(({ severity }) => severity === 'error').length
  if (errorCount > 0) return { tone: 'bad', sentence: `${policy} ${mailAuth.errors(errorCount)}` }
  const isEnforced = dmarc.effectivePolicy === 'reject' || dmarc.effectivePolicy === 'quarantine'
  return { tone: isEnforced ? 'good' : 'warn', sentence: policy }
}

export function tlsVerdict({
  authorized,
  isExpired,
  hostnameMatches,
  daysRemaining,
  warnings,
}: TlsResult): Verdict {
  if (isExpired) return { tone: 'bad', sentence: certificate.expired }
  if (!hostnameMatches) return { tone: 'bad', sentence: certificate.wrongHost }
  if (!authorized) return { tone: 'bad', sentence: certificate.untrusted }
  const trusted = certificate.trusted(daysRemaining)
  if (warnings.length > 0)
    return { tone: 'warn', sentence: `${trusted} ${certificate.issuesFound(warnings.length)}` }
  return { tone: 'good', sentence: trusted }
}

export function blacklistVerdict({
  ip,
  listedCount,
  cleanCount,
  unknownCount,
  totalChecked,
}: BlacklistResult): Verdict {
  const unchecked = unknownCount > 0 ? ` ${blocklists.unchecked(unknownCount)}` : ''
  if (listedCount > 0) {
    return { tone: 'bad', sentence: blocklists.listed(ip, listedCount, totalChecked) + unchecked }
  }
  if (unknownCount > totalChecked / 2) {
    return { tone: 'unknown', sentence: blocklists.unknown(ip, unknownCount, totalChecked) }
  }
  return { tone: 'good', sentence: blocklists.clean(ip, cleanCount) + unchecked }
}
