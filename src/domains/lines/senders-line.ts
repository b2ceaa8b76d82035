import { joinItems } from '../../protocols/advice.ts'
import { openAdvice } from '../../protocols/spf/spf-advice.ts'
import type { Senders } from '../../protocols/spf/spf-senders.ts'
import { isBroken } from '../../protocols/spf/spf-tree.ts'
import type { DomainContext } from '../domain-context.ts'
import { MAX_SENDER_NETWORKS } from '../limits.ts'
import { formatNetwork } from '../domain-senders.ts'
import type { Evidence } from '../shapes.ts'
import { counted } from '../../counted.ts'
import { messagesOf, unanswered, unused, type Line, type LineResult } from './line.ts'

/** IPv4 addresses that one organisation rarely needs: the size of a /12. */
const MANY_ADDRESSES = 2 ** 20

export const sendersLine: Line = {
  name: 'senders',
  title: 'Sending servers',
  check: checkSenders,
}

async function checkSenders(context: DomainContext): Promise<LineResult> {
  const tree = await context.spf()
  const { root, truncated } = tree
  if (root.error) return unanswered('The SPF record', root.error)
  if (!root.record)
    return {
      state: 'warning',
      summary: 'Without an SPF record, the servers that may send are not known.',
    }
  const senders = await context.senders()
  const { networks, open, dependentTerms, failedTerms, ipv4Count } = senders
  const evidence = networks.slice(0, MAX_SENDER_NETWORKS).map(evidenceOf)
  if (root.problem === 'several')
    return {
      state: 'warning',
      summary: `With ${root.texts.length} SPF records, SPF fails with permerror, so it permits no server.`,
      evidence,
    }
  const details = detailsOf(senders, truncated)
  const [first, ...others] = messagesOf(openAdvice(open))
  if (first !== undefined)
    return { state: 'bad', summary: first, details: [...others, ...details], evidence }
  const isIncomplete = truncated || failedTerms.length > 0
  const fails = isBroken(tree)
  if (networks.length + dependentTerms.length === 0 && !isIncomplete && !fails)
    return senders.isEmpty
      ? unused('SPF permits no server to send.')
      : {
          state: 'warning',
          summary:
            'The terms of the SPF record lead to no public address, so no server on the Internet may send.',
          details,
        }
  return {
    state: fails || ipv4Count > MANY_ADDRESSES ? 'warning' : isIncomplete ? 'unknown' : 'good',
    summary: summaryOf(senders, isIncomplete, fails),
    details,
    evidence,
  }
}

function summaryOf(
  { networks, dependentTerms, ipv4Count, ipv6Networks }: Senders,
  isIncomplete: boolean,
  fails: boolean,
): string {
  const addresses = [
    counted(ipv4Count, 'IPv4 address', 'IPv4 addresses'),
    ...(ipv6Networks > 0 ? [counted(ipv6Networks, 'IPv6 network')] : []),
  ].join(' and ')
  if (networks.length === 0 && dependentTerms.length > 0)
    return 'SPF names no server: who may send depends on the mail.'
  const atLeast = isIncomplete ? 'at least ' : ''
  return fails
    ? `The SPF record names ${atLeast}${addresses}, but fails with permerror.`
    : `SPF permits ${atLeast}${addresses} to send.`
}

function detailsOf(senders: Senders, truncated: boolean): string[] {
  const { networks, open, dependentTerms, failedTerms, ipv4Count } = senders
  const omitted = networks.length - MAX_SENDER_NETWORKS
  return [
    ...(ipv4Count > MANY_ADDRESSES && open.length === 0
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
