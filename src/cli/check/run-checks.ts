import { readConfig } from '../../config.ts'
import { checkAddress } from '../../diagnostics/blacklist.ts'
import { createCheckServices, type CheckDeps } from '../../diagnostics/check-services.ts'
import { dnsCheck } from '../../diagnostics/dns/dns-check.ts'
import { mailAuthCheck } from '../../diagnostics/mail-auth/mail-auth.ts'
import { runCheck } from '../../diagnostics/routes.ts'
import { tlsCheck } from '../../diagnostics/tls/tls.ts'
import {
  blacklistVerdict,
  dnsVerdict,
  mailAuthVerdict,
  tlsVerdict,
  type Verdict,
} from '../../diagnostics/check-verdict.ts'
import { createLog } from '../../log.ts'
import type { StartTls } from '../../net/tls/starttls.ts'
import { blocklistReport } from './blocklist-report.ts'
import { dnsReport, mailAuthReport, tlsReport } from './check-reports.ts'
import { createCounter } from './counter.ts'

/** Checks the DNS records of a domain. Issues alone are no failure: the name resolves. */
export function checkDns(domain: string, json: boolean): Promise<number> {
  return withChecks(async (deps) => {
    const data = await runCheck(dnsCheck, { domain }, deps)
    const verdict = dnsVerdict(data)
    return print({ data, verdict, text: dnsReport(data, verdict) }, json, ['good', 'warning'])
  })
}

type TlsTarget = { domain: string; port: number | undefined; starttls: StartTls | undefined }

/** Checks a certificate. Issues alone are no failure: the certificate is trusted. */
export function checkSsl(target: TlsTarget, json: boolean): Promise<number> {
  return withChecks(async (deps) => {
    const data = await runCheck(tlsCheck, target, deps)
    const verdict = tlsVerdict(data)
    return print({ data, verdict, text: tlsReport(data, verdict) }, json, ['good', 'warning'])
  })
}

type MailAuthTarget = { domain: string; selector: string[]; ip: string[] }

/** Checks the email authentication of a domain. A policy that is not enforced is a failure. */
export function checkDmarc(target: MailAuthTarget, json: boolean): Promise<number> {
  return withChecks(async (deps) => {
    const data = await runCheck(mailAuthCheck, target, deps)
    const verdict = mailAuthVerdict(data)
    return print({ data, verdict, text: mailAuthReport(data, verdict) }, json, ['good'])
  })
}

type BlocklistOptions = { json: boolean; showAll: boolean }

/** Checks an address on all blocklists, and counts the answers at a terminal as they come. */
export function checkBlocklists(ip: string, { json, showAll }: BlocklistOptions): Promise<number> {
  return withChecks(async (deps) => {
    const counter = createCounter(process.stderr, deps.blocklists.lists.length)
    const run = (address: string, { blocklists }: CheckDeps, signal: AbortSignal) =>
      checkAddress(address, blocklists, signal, counter.count)
    const data = await runCheck({ run }, ip, deps).finally(counter.end)
    const verdict = blacklistVerdict(data)
    return print({ data, verdict, text: blocklistReport(data, verdict, showAll) }, json, ['good'])
  })
}

async function withChecks(work: (deps: CheckDeps) => Promise<number>): Promise<number> {
  const checks = createCheckServices(readConfig(), createLog('silent'))
  try {
    return await work(checks.deps)
  } finally {
    checks.close()
  }
}

type Outcome = { data: unknown; verdict: Verdict; text: string }

/**
 * Prints the result of a check, for people or in the format of the API with the verdict beside it.
 * @param passing the verdicts with exit code 0
 * @returns the exit code
 */
function print(
  { data, verdict, text }: Outcome,
  json: boolean,
  passing: Verdict['state'][],
): number {
  console.log(json ? JSON.stringify({ success: true, data, verdict }, null, 2) : text)
  return passing.includes(verdict.state) ? 0 : 1
}
