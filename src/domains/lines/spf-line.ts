import { adviceOnSpf } from '../../protocols/spf/spf-advice.ts'
import { permitsNoSender } from '../../protocols/spf/spf-record.ts'
import { LOOKUP_LIMIT } from '../../protocols/spf/spf-tree.ts'
import type { DomainContext } from '../domain-context.ts'
import { spfProposals } from '../fixes/spf-fix.ts'
import { messagesOf, stateOfAdvice, unanswered, type Line, type LineResult } from './line.ts'

export const spfLine: Line = { name: 'spf', title: 'SPF', check: checkSpf }

async function checkSpf(context: DomainContext): Promise<LineResult> {
  const { domain, tree, advice, texts } = await gather(context)
  const { root, lookups } = tree
  if (root.error) return unanswered('The SPF record', root.error)
  const state = stateOfAdvice(advice)
  const [worst] = advice
  return {
    state,
    summary:
      state !== 'good' && worst
        ? worst.message
        : root.record && permitsNoSender(root.record)
          ? 'The SPF record permits no server to send.'
          : `The SPF record is valid and needs ${lookups} of ${LOOKUP_LIMIT} DNS lookups.`,
    details: messagesOf(state === 'good' ? advice : advice.slice(1)),
    evidence: root.texts.map((text) => ({ label: `${domain} TXT`, value: text, state })),
    proposals: spfProposals({ domain, tree, texts, advice }),
  }
}

async function gather(context: DomainContext) {
  const { name: domain } = context
  const [tree, own, mailUse, obsolete, providers] = await Promise.all([
    context.spf(),
    context.own(),
    context.mailUse(),
    context.queries.query(domain, 'SPF'),
    context.providers(),
  ])
  // Waits for the keys of DKIM, so only where the answer matters.
  const isUnused = tree.root.record === null && mailUse.receives === 'nothing'
  const sendsMail = !isUnused || (await context.sendsMail())
  const include = providers.find((provider) => provider.include)?.include ?? null
  const hasObsoleteType = obsolete.status !== 'FAILED' && obsolete.records.length > 0
  const about = { domain, tree, texts: own.texts, mailUse, sendsMail, include, hasObsoleteType }
  const severities = ['error', 'warning', 'info']
  const advice = adviceOnSpf(about).toSorted(
    (one, other) => severities.indexOf(one.severity) - severities.indexOf(other.severity),
  )
  return { domain, tree, advice, texts: own.texts }
}
