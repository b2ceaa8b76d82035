import { mailAuth } from '../../diagnostics/messages.ts'
import { sortBySeverity } from '../../protocols/advice.ts'
import { adviceOnDmarc } from '../../protocols/dmarc/dmarc-advice.ts'
import type { DmarcDiscovery } from '../../protocols/dmarc/dmarc-discovery.ts'
import type { DomainContext } from '../domain-context.ts'
import { dmarcProposals } from '../fixes/dmarc-fix.ts'
import type { LineState } from '../shapes.ts'
import { messagesOf, stateOfAdvice, worstOf, type Line, type LineResult } from './line.ts'

export const dmarcLine: Line = { name: 'dmarc', title: 'DMARC', check: checkDmarc }

async function checkDmarc(context: DomainContext): Promise<LineResult> {
  const { registeredDomain } = context
  const [{ dmarc, destinations }, own, usesMail] = await Promise.all([
    context.dmarc(),
    context.own(),
    context.usesMail(),
  ])
  const about = { discovery: dmarc, destinations, usesMail }
  const advice = sortBySeverity(adviceOnDmarc({ ...about, texts: own.texts, registeredDomain }))
  const reportEmail = await reportEmailOf(context)
  const proposals = dmarcProposals({ ...about, advice, reportEmail })
  const evidenceOf = (state: LineState) =>
    dmarc.steps.flatMap(({ domain, records }) =>
      records.map(({ text }) => ({ label: `_dmarc.${domain} TXT`, value: text, state })),
    )
  if (dmarc.error)
    return {
      state: 'unknown',
      summary: mailAuth.unknownDmarc(dmarc.error),
      details: messagesOf(advice),
      evidence: evidenceOf('unknown'),
    }
  // Monitoring alone protects nobody’s name, although it is a valid record.
  const isOpen = dmarc.record !== null && dmarc.effectivePolicy === 'none'
  const state = worstOf([stateOfAdvice(advice), ...(isOpen ? ['warning' as const] : [])])
  const summary = stateOfAdvice(advice) === 'good' ? summaryOf(dmarc) : (advice[0]?.message ?? '')
  const details = messagesOf(advice).filter((message) => message !== summary)
  return { state, summary, details, evidence: evidenceOf(state), proposals }
}

/** The policy of a record without problems. */
function summaryOf({ effectivePolicy, domain, policyDomain }: DmarcDiscovery): string {
  const inherited = policyDomain === domain ? '' : ` It is inherited from ${policyDomain}.`
  return `${mailAuth.policies[effectivePolicy ?? 'none']}${inherited}`
}

/** Without the database there is still the usual address. */
async function reportEmailOf({ deps, name }: DomainContext): Promise<string | null> {
  return (await deps.reportEmailOf?.(name).catch(() => null)) ?? null
}
