import { joinItems, sortBySeverity } from '../../protocols/advice.ts'
import { adviceOnDkim } from '../../protocols/dkim/dkim-advice.ts'
import type { SelectorFinding } from '../../protocols/dkim/probe-selectors.ts'
import type { DomainContext } from '../domain-context.ts'
import { dkimProposals } from '../fixes/dkim-fix.ts'
import type { Evidence } from '../shapes.ts'
import { counted } from '../../counted.ts'
import { messagesOf, stateOfAdvice, unused, type Line, type LineResult } from './line.ts'

export const dkimLine: Line = { name: 'dkim', title: 'DKIM', check: checkDkim }

async function checkDkim(context: DomainContext): Promise<LineResult> {
  const { name: domain } = context
  const [{ probe, providers }, sendsMail] = await Promise.all([context.dkim(), context.sendsMail()])
  const advice = sortBySeverity(adviceOnDkim({ domain, probe, asked: [], providers, sendsMail }))
  const keys = probe.findings.filter(({ key, fromWildcard }) => key && !fromWildcard)
  const working = keys.filter(({ key }) => key && !key.revoked && key.errors.length === 0)
  const proposals = dkimProposals(domain, probe)
  const evidence = keys.map((finding) => evidenceOf(domain, finding))
  if (keys.length === 0 && !sendsMail)
    return { ...unused('The domain sends no mail, so it needs no DKIM key.'), proposals }
  if (working.length === 0) return withoutKeys(context, advice, { proposals, evidence })
  const state = stateOfAdvice(advice)
  const selectors = joinItems(working.map(({ selector }) => selector))
  const found = `${counted(working.length, 'DKIM key')} found: ${selectors}.`
  return {
    state,
    summary: state === 'good' ? found : (advice[0]?.message ?? found),
    details: state === 'good' ? messagesOf(advice) : [found, ...messagesOf(advice.slice(1))],
    evidence,
    proposals,
  }
}

/** Selectors cannot be listed, so a key may exist all the same. */
async function withoutKeys(
  context: DomainContext,
  advice: ReturnType<typeof adviceOnDkim>,
  rest: Pick<LineResult, 'proposals' | 'evidence'>,
): Promise<LineResult> {
  const { probe } = await context.dkim()
  const tried = probe.findings.filter((finding) => finding.tried && !finding.error)
  const isOpen = probe.wildcard !== null && !probe.wildcard.revoked
  const isCertain =
    isOpen ||
    probe.nothingBelow ||
    probe.findings.some(({ key, fromWildcard }) => key !== null && !fromWildcard)
  const summary = isCertain
    ? (advice[0]?.message ?? 'No working DKIM key was found.')
    : `No DKIM key was found at ${counted(tried.length, 'selector')}. There may be one at another.`
  const details = messagesOf(advice).filter((message) => message !== summary)
  const state = isOpen ? stateOfAdvice(advice) : isCertain ? 'bad' : 'unknown'
  return { state, summary, details, ...rest }
}

function evidenceOf(domain: string, { selector, key, texts }: SelectorFinding): Evidence {
  const isBroken = key === null || key.errors.length > 0
  return {
    label: `${selector}._domainkey.${domain} TXT`,
    value: texts.join('\n'),
    state: isBroken ? 'bad' : key.testing ? 'warning' : 'good',
  }
}
