import { sortBySeverity } from '../../protocols/advice.ts'
import {
  adviceOnMtaSts,
  parseStsRecord,
  policyUrl,
  resemblesSts,
} from '../../protocols/mail/mta-sts.ts'
import { receivingHosts } from '../../protocols/mail/mail-use.ts'
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

export const mtaStsLine: Line = { name: 'mta-sts', title: 'MTA-STS', check: checkMtaSts }

async function checkMtaSts(context: DomainContext): Promise<LineResult> {
  const { name: domain, now } = context
  const [{ found, fetched }, mailUse] = await Promise.all([context.mtaSts(), context.mailUse()])
  const isIdle = mailUse.receives === 'address' && !(await context.usesMail())
  const exchanges = isIdle ? [] : receivingHosts(domain, mailUse)
  if (found.error) return unanswered('The MTA-STS record', found.error)
  const advice = sortBySeverity(adviceOnMtaSts({ domain, found, fetched, exchanges, now }))
  const isPublished = found.texts.some((text) => parseStsRecord(text))
  const isUnknown = fetched !== null && 'isOutOfReach' in fetched && fetched.isOutOfReach === true
  const severest = stateOfAdvice(advice)
  const state = isUnknown && severest !== 'bad' ? 'unknown' : severest
  if (!isPublished && state === 'good')
    return unused('The domain does not use MTA-STS.', messagesOf(advice))
  const published = found.texts.filter(resemblesSts)
  const broken = advice.filter(({ publish }) => publish)
  const value = broken[0]?.publish?.value
  const policy = fetched && 'policy' in fetched ? fetched.policy : null
  const [worst] = advice
  return {
    state,
    summary:
      state === 'good'
        ? `The MTA-STS policy is in mode ${policy?.mode ?? 'unknown'}.`
        : (worst?.message ?? ''),
    details: messagesOf(state === 'good' ? advice : advice.slice(1)),
    evidence: [
      ...published.map((text) => ({ label: `_mta-sts.${domain} TXT`, value: text, state })),
      ...(policy
        ? [
            {
              label: policyUrl(domain).href,
              value: `mode ${policy.mode}; mx ${policy.mx.join(', ')}`,
              state,
            },
          ]
        : []),
    ],
    proposals:
      value === undefined
        ? []
        : [
            proposeText(
              { name: `_mta-sts.${domain}`, line: 'mta-sts', severity: 'bad' },
              { published, value, reasons: messagesOf(broken) },
            ),
          ],
  }
}
