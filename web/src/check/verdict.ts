import type { BlacklistResult, DnsResult, MailAuthResult, TlsResult } from '../../../src/diagnostics/shapes.ts'
import type { Tone } from '../ui/feedback/status.tsx'
import { counted } from '../ui/text/format.ts'

/** A result in one sentence, and how grave it is. */
export type Verdict = { tone: Tone; sentence: string }

export function dnsVerdict({ unicodeDomain, status, errors, warnings }: DnsResult): Verdict {
  if (status === 'NXDOMAIN') return { tone: 'bad', sentence: `There is no such name as ${unicodeDomain}.` }
  const failed = Object.keys(errors).map((type) => type.toUpperCase())
  if (failed.length > 0) return { tone: 'unknown', sentence: `Some questions got no answer: ${failed.join(', ')}.` }
  if (warnings.length > 0)
    return { tone: 'warn', sentence: `The name resolves, with ${thingsIn(warnings)} to look at.` }
  return { tone: 'good', sentence: 'The name resolves, and nothing about its records looks wrong.' }
}

export function mailAuthVerdict({ unicodeDomain, status, dmarc, warnings }: MailAuthResult): Verdict {
  if (status === 'NXDOMAIN') return { tone: 'bad', sentence: `There is no such name as ${unicodeDomain}.` }
  if (!dmarc.found && dmarc.error) return { tone: 'unknown', sentence: `DMARC could not be asked for: ${dmarc.error}.` }
  if (!dmarc.found) return { tone: 'bad', sentence: 'No DMARC record tells receivers what to do with forged mail.' }
  const policy = POLICIES[dmarc.effectivePolicy ?? 'none']
  const broken = warnings.filter(({ severity }) => severity === 'error').length
  if (broken > 0) return { tone: 'bad', sentence: `${policy} But ${counted(broken, 'thing')} here must be mended.` }
  const isStopped = dmarc.effectivePolicy === 'reject' || dmarc.effectivePolicy === 'quarantine'
  return { tone: isStopped ? 'good' : 'warn', sentence: policy }
}

const POLICIES: Record<NonNullable<MailAuthResult['dmarc']['effectivePolicy']>, string> = {
  reject: 'Receivers are asked to reject forged mail.',
  quarantine: 'Receivers are asked to treat forged mail as suspicious.',
  none: 'Receivers are asked to let forged mail pass, and only to report it.',
}

export function tlsVerdict({ authorized, isExpired, hostnameMatches, daysRemaining, warnings }: TlsResult): Verdict {
  if (isExpired) return { tone: 'bad', sentence: 'The certificate has expired.' }
  if (!hostnameMatches) return { tone: 'bad', sentence: 'The certificate is for another host.' }
  if (!authorized) return { tone: 'bad', sentence: 'The certificate is not one that others trust.' }
  const valid = `The certificate is trusted, and valid for ${counted(daysRemaining, 'more day')}.`
  if (warnings.length > 0) return { tone: 'warn', sentence: `${valid} There is ${thingsIn(warnings)} to look at.` }
  return { tone: 'good', sentence: valid }
}

export function blacklistVerdict({
  ip,
  listedCount,
  cleanCount,
  unknownCount,
  totalChecked,
}: BlacklistResult): Verdict {
  const silent = unknownCount > 0 ? ` ${counted(unknownCount, 'list')} gave no usable answer.` : ''
  if (listedCount > 0) {
    return {
      tone: 'bad',
      sentence: `${ip} is listed on ${listedCount} of ${counted(totalChecked, 'blacklist')}.${silent}`,
    }
  }
  if (unknownCount > totalChecked / 2) {
    return { tone: 'unknown', sentence: `Nothing can be said about ${ip}:${silent}` }
  }
  return {
    tone: 'good',
    sentence: `${ip} is on none of the ${counted(cleanCount, 'blacklist')} that answered.${silent}`,
  }
}

function thingsIn(warnings: string[]): string {
  return warnings.length === 1 ? 'one thing' : `${warnings.length} things`
}
