import { joinItems } from '../../protocols/advice.ts'
import { permitsNoSender } from '../../protocols/spf/spf-record.ts'
import type { DomainContext } from '../domain-context.ts'
import { MAX_SENDER_NETWORKS } from '../limits.ts'
import { formatNetwork, type Senders } from '../senders.ts'
import type { Evidence } from '../shapes.ts'
import { counted, unanswered, unused, type Line, type LineResult } from './line.ts'

/** IPv4 addresses that one organisation rarely needs: the size of a /12. */
const MANY_ADDRESSES = 2 ** 20

export const sendersLine: Line = {
  name: 'senders',
  title: 'Sending servers',
  check: checkSenders,
}

async function checkSenders(context: DomainContext): Promise<LineResult> {
  const { root, truncated } = await context.spf()
  if (root.error) return unanswered('The SPF record', root.error)
  if (!root.record)
    return {
      state: 'warning',
      summary: 'Without an SPF record, the servers that may send are not known.',
    }
  if (permitsNoSender(root.record)) return unused('SPF permits no server to send.')
  const senders = await context.senders()
  const isIncomplete = truncated || senders.failedTerms.length > 0
  return {
    state: isIncomplete ? 'unknown' : senders.ipv4Count > MANY_ADDRESSES ? 'warning' : 'good',
    summary: summaryOf(senders, isIncomplete),
    details: detailsOf(senders, truncated),
    evidence: senders.networks.slice(0, MAX_SENDER_NETWORKS).map(evidenceOf),
  }
}

function summaryOf({ networks, ipv4Count }: Senders, isIncomplete: boolean): string {
  const v6 = networks.filter(({ family }) => family === 6).length
  const parts = [
    counted(ipv4Count, 'IPv4 address', 'IPv4 addresses'),
    ...(v6 > 0 ? [counted(v6, 'IPv6 network')] : []),
  ]
  return `SPF permits ${isIncomplete ? 'at least ' : ''}${parts.join(' and ')} to send.`
}

function detailsOf(senders: Senders, truncated: boolean): string[] {
  const { networks, dependentTerms, failedTerms, ipv4Count } = senders
  const omitted = networks.length - MAX_SENDER_NETWORKS
  return [
    ...(ipv4Count > MANY_ADDRESSES
      ? ['So many addresses include servers of strangers. Remove services that no longer send.']
      : []),
    ...(omitted > 0 ? [`${counted(omitted, 'more network')} not shown.`] : []),
    ...(failedTerms.length > 0
      ? [`The addresses of ${joinItems(failedTerms)} could not be looked up.`]
      : []),
    ...(truncated
      ? ['Some included records were not read: there are too many, or time ran out.']
      : []),
    ...(dependentTerms.length > 0
      ? [`The addresses of ${joinItems(dependentTerms)} depend on the mail.`]
      : []),
  ]
}

function evidenceOf(network: Senders['networks'][number]): Evidence {
  return { label: network.via, value: formatNetwork(network), state: 'good' }
}
