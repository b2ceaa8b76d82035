import { mailAuth } from '../../diagnostics/messages.ts'
import { sortBySeverity } from '../../protocols/advice.ts'
import { adviceOnDmarc } from '../../protocols/dmarc/dmarc-advice.ts'
import type { DmarcDiscovery } from '../../protocols/dmarc/dmarc-discovery.ts'
import type { DomainContext, MailDeps } from '../domain-context.ts'
import { dmarcProposals } from '../fixes/dmarc-fix.ts'
import type { Proposal } from '../fixes/proposal.ts'
import type { LineState } from '../shapes.ts'
import { messagesOf, stateOfAdvice, worstOf, type Line, type LineResult } from './line.ts'

export const dmarcLine: Line = { name: 'dmarc', title: 'DMARC', check: checkDmarc }

async function checkDmarc(context: DomainContext): Promise<LineResult> {
  const facts = await gatherFacts(context)
  const { discovery: dmarc, advice } = facts
  const proposals = dmarcProposals(facts)
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

/** The records to publish for DMARC, as the line of a domain check proposes them. */
export async function proposeDmarc(context: DomainContext<MailDeps>): Promise<Proposal[]> {
  return dmarcProposals(await gatherFacts(context))
}

async function gatherFacts(context: DomainContext<MailDeps>) {
  const { registeredDomain, deps, name } = context
  const [{ dmarc: discovery, destinations }, own, usesMail, receivesMail] = await Promise.all([
    context.dmarc(),
    context.own(),
    context.usesMail(),
    context.receivesMail(),
  ])
  const about = { discovery, destinations, usesMail, receivesMail }
  const advice = sortBySeverity(adviceOnDmarc({ ...about, texts: own.texts, registeredDomain }))
  // Without the database there is still the usual address, and no stricter policy.
  const [reportEmail = null, safePolicy = null] = await Promise.all([
    deps.reportEmailOf?.(name).catch(() => null),
    discovery.record?.p === 'reject' ? null : deps.safePolicyOf?.(name).catch(() => null),
  ])
  return { ...about, advice, reportEmail, safePolicy }
}
