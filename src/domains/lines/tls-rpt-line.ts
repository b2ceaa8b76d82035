import { adviceOnTlsRpt } from '../../protocols/mail/tls-rpt.ts'
import type { DomainContext, MailDeps } from '../domain-context.ts'
import { proposeText, type Proposal } from '../fixes/proposal.ts'
import {
  messagesOf,
  stateOfAdvice,
  unanswered,
  unused,
  type Line,
  type LineResult,
} from './line.ts'

export const tlsRptLine: Line = { name: 'tls-rpt', title: 'TLS reporting', check: checkTlsRpt }

/** The published TLS reporting record, and the one that the line of a domain check proposes. */
export async function proposeTlsRpt(
  context: DomainContext<MailDeps>,
): Promise<{ published: string | null; proposals: Proposal[] }> {
  const facts = await gatherFacts(context)
  return { published: facts.published[0] ?? null, proposals: proposalsFor(facts) }
}

async function gatherFacts(context: DomainContext<MailDeps>) {
  const { name: domain, queries, deps } = context
  const name = `_smtp._tls.${domain}`
  const [found, { receives }, reportEmail = null] = await Promise.all([
    queries.lookUpTxt(name),
    context.mailUse(),
    deps.reportEmailOf?.(domain).catch(() => null),
  ])
  const advice = adviceOnTlsRpt(domain, found, receives === 'mx')
  const published = found.texts.filter((text) => /^\W*v\s*=\s*TLS-?RPT/i.test(text.slice(0, 40)))
  return { domain, name, found, advice, published, state: stateOfAdvice(advice), reportEmail }
}

function proposalsFor(facts: Awaited<ReturnType<typeof gatherFacts>>): Proposal[] {
  const { domain, name, found, advice, published, state, reportEmail } = facts
  if (found.error) return []
  const [first, ...others] = published
  // Without advice, the record needs nothing but the address of this installation.
  const wanted =
    advice.find(({ publish }) => publish)?.publish?.value ??
    (advice.length === 0 && others.length === 0 ? first : undefined)
  if (wanted === undefined) return []
  const value = withReportEmail(wanted, domain, reportEmail)
  if (value === first && others.length === 0) return []
  return [
    proposeText(
      {
        name,
        line: 'tls-rpt',
        severity: state === 'good' ? 'suggestion' : state === 'bad' ? 'bad' : 'warning',
        caution: value.includes('mailto:tls-reports@')
          ? 'Reports need an address that exists. Change rua if it does not.'
          : null,
      },
      {
        published,
        value,
        reasons:
          advice.length > 0
            ? messagesOf(advice)
            : ['Adds Portreeve to the receivers of the reports.'],
      },
    ),
  ]
}

/** The record with the address of this installation, which takes the place of an invented one. */
function withReportEmail(value: string, domain: string, reportEmail: string | null): string {
  if (reportEmail === null) return value
  const ours = `mailto:${reportEmail}`
  const invented = `mailto:tls-reports@${domain}`
  if (value === `v=TLSRPTv1; rua=${invented}`) return value.replace(invented, ours)
  if (value.toLowerCase().includes(ours)) return value
  return value.replace(/(\brua[ \t]*=[ \t]*[^;]*?)([ \t]*(?:;|$))/i, `$1,${ours}$2`)
}

async function checkTlsRpt(context: DomainContext): Promise<LineResult> {
  const facts = await gatherFacts(context)
  const { name, found, advice, published, state } = facts
  if (found.error) return unanswered('The TLS reporting record', found.error)
  const evidence = published.map((text) => ({ label: `${name} TXT`, value: text, state }))
  const proposals = proposalsFor(facts)
  if (published.length === 0)
    return { ...unused('The domain gets no TLS reports.', messagesOf(advice)), proposals }
  const [first] = messagesOf(advice)
  return {
    state,
    summary: first ?? 'Senders report TLS failures to the domain.',
    details: messagesOf(advice.slice(1)),
    evidence,
    proposals,
  }
}
