import { blocklists, certificate, dns, mailAuth } from './messages.ts'
import type { BlacklistResult, DnsResult, MailAuthResult, TlsResult } from './shapes.ts'

/**
 * The result of a check in one sentence. The dashboard and the command line share it, so this file
 * and its messages import nothing that does not run in a browser.
 */
export type Verdict = { state: 'good' | 'warning' | 'bad' | 'unknown'; sentence: string }

export function dnsVerdict({ unicodeDomain, status, errors, warnings }: DnsResult): Verdict {
  if (status === 'NXDOMAIN') return { state: 'bad', sentence: dns.nameNotFound(unicodeDomain) }
  const failed = Object.keys(errors).map((type) => type.toUpperCase())
  if (failed.length > 0) return { state: 'unknown', sentence: dns.failed(failed) }
  if (warnings.length > 0) return { state: 'warning', sentence: dns.withIssues(warnings.length) }
  return { state: 'good', sentence: dns.good }
}

export function mailAuthVerdict({
  unicodeDomain,
  status,
  dmarc,
  warnings,
}: MailAuthResult): Verdict {
  if (status === 'NXDOMAIN') return { state: 'bad', sentence: mailAuth.nameNotFound(unicodeDomain) }
  if (!dmarc.found && dmarc.error)
    return { state: 'unknown', sentence: mailAuth.unknownDmarc(dmarc.error) }
  if (!dmarc.found) return { state: 'bad', sentence: mailAuth.noDmarc }
  const policy = mailAuth.policies[dmarc.effectivePolicy ?? 'none']
  const errorCount = warnings.filter(({ severity }) => severity === 'error').length
  if (errorCount > 0) return { state: 'bad', sentence: `${policy} ${mailAuth.errors(errorCount)}` }
  const isEnforced = dmarc.effectivePolicy === 'reject' || dmarc.effectivePolicy === 'quarantine'
  return { state: isEnforced ? 'good' : 'warning', sentence: policy }
}

export function tlsVerdict({
  authorized,
  isExpired,
  hostnameMatches,
  daysRemaining,
  validTo,
  warnings,
}: TlsResult): Verdict {
  if (isExpired) {
    const isOwn = Date.parse(validTo) < Date.now()
    return { state: 'bad', sentence: isOwn ? certificate.expired : certificate.issuerExpired }
  }
  if (!hostnameMatches) return { state: 'bad', sentence: certificate.wrongHost }
  if (!authorized) return { state: 'bad', sentence: certificate.untrusted }
  const trusted = certificate.trusted(daysRemaining)
  if (warnings.length > 0)
    return {
      state: 'warning',
      sentence: `${trusted} ${certificate.issuesFound(warnings.length)}`,
    }
  return { state: 'good', sentence: trusted }
}

type BlocklistCounts = Pick<
  BlacklistResult,
  'ip' | 'listedCount' | 'cleanCount' | 'unknownCount' | 'totalChecked'
> & { critical: number }

/** An address is not called clean while a critical list gave no answer. */
export function blacklistVerdict(result: BlacklistResult): Verdict {
  const critical = result.blacklists.filter(
    ({ status, category }) => status === 'unknown' && category === 'critical',
  ).length
  return blocklistVerdict({ ...result, critical })
}

/**
 * The verdict on an address from the numbers of its answers.
 * @param counts `critical`: critical lists without a usable answer
 */
export function blocklistVerdict({
  ip,
  listedCount,
  cleanCount,
  unknownCount,
  totalChecked,
  critical,
}: BlocklistCounts): Verdict {
  const unchecked = unknownCount > 0 ? ` ${blocklists.unchecked(unknownCount, critical)}` : ''
  if (listedCount > 0) {
    return { state: 'bad', sentence: blocklists.listed(ip, listedCount, totalChecked) + unchecked }
  }
  if (unknownCount > totalChecked / 2) {
    return { state: 'unknown', sentence: blocklists.unknown(ip, unknownCount, totalChecked) }
  }
  const sentence = blocklists.clean(ip, cleanCount) + unchecked
  return { state: critical > 0 ? 'warning' : 'good', sentence }
}
