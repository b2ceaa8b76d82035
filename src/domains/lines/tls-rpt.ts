import { adviceOnTlsRpt } from '../../protocols/mail/tls-rpt.ts'
import type { DomainContext } from '../domain-context.ts'
import { proposeText } from '../fixes/proposal.ts'
import {
  messagesOf,
  stateOfAdvice,
  unanswered,
  unused,
  type Line,
  type LineResult,
} from './line.ts'

export const tlsRptLine: Line = { name: 'tls-rpt', title: 'TLS reporting', check: checkTlsRpt }

async function checkTlsRpt(context: DomainContext): Promise<LineResult> {
  const { name: domain, queries } = context
  const name = `_smtp._tls.${domain}`
  const [found, { receives }] = await Promise.all([queries.lookUpTxt(name), context.mailUse()])
  if (found.error) return unanswered('The TLS reporting record', found.error)
  const advice = adviceOnTlsRpt(domain, found, receives === 'mx')
  const state = stateOfAdvice(advice)
  const published = found.texts.filter((text) => /^\W*v\s*=\s*TLS-?RPT/i.test(text.slice(0, 40)))
  const evidence = published.map((text) => ({ label: `${name} TXT`, value: text, state }))
  const value = advice.find(({ publish }) => publish)?.publish?.value
  const proposals =
    value === undefined
      ? []
      : [
          proposeText(
            {
              name,
              line: 'tls-rpt',
              severity: state === 'good' ? 'suggestion' : state === 'bad' ? 'bad' : 'warning',
              caution: value.includes('mailto:tls-reports@')
                ? 'Reports need an address that exists. Change rua if it does not.'
                : null,
            },
            { published, value, reasons: messagesOf(advice) },
          ),
        ]
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
