import type { FindReportRecords } from '../dmarc/route-deps.ts'
import { createDomainContext, type MailDeps } from './domain-context.ts'
import { parseDomain } from './check-domain.ts'
import { composeFixes } from './fixes/compose-fixes.ts'
import { proposeDmarc } from './lines/dmarc-line.ts'
import { proposeTlsRpt } from './lines/tls-rpt-line.ts'

/** Finds the records about reports that a check of the domain proposes, without the rest of it. */
export function createReportRecords(deps: MailDeps): FindReportRecords {
  return async (domain, known, signal) => {
    const context = createDomainContext(parseDomain(domain), { ...deps, ...known }, signal)
    const [dmarc, tlsRpt] = await Promise.all([proposeDmarc(context), proposeTlsRpt(context)])
    const fixes = composeFixes([...dmarc, ...tlsRpt.proposals])
    const valueAt = (name: string) => fixes.find((fix) => fix.name === name)?.value ?? null
    return {
      dmarc: valueAt(`_dmarc.${domain}`),
      tlsRpt: valueAt(`_smtp._tls.${domain}`) ?? tlsRpt.published,
    }
  }
}
