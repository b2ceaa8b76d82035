import { classify, parseAddress } from '../../net/address.ts'
import { dataOf } from '../../net/dns.ts'
import { joinItems } from '../../protocols/advice.ts'
import { mxProblems } from '../../protocols/mail/mx-problems.ts'
import { isReachable, type DomainContext, type MailHost } from '../domain-context.ts'
import type { LineState } from '../shapes.ts'
import { failsValidation } from './dnssec-line.ts'
import { counted } from '../../counted.ts'
import { unanswered, unused, worstOf, type Line, type LineResult } from './line.ts'

export const mxLine: Line = { name: 'mx', title: 'MX', check: checkMx }

async function checkMx(context: DomainContext): Promise<LineResult> {
  const { receives, error } = await context.mailUse()
  if (receives === 'unknown') return unanswered('The MX records', error ?? 'no answer')
  if (receives === 'nothing') return unused('The domain receives no mail.')
  if (receives === 'address' && !(await context.usesMail()))
    return unused('The domain does not use mail.', [
      'Publish a null MX record (0 .), so that no server tries to deliver mail to the host itself (RFC 7505).',
    ])
  const { hosts, omittedHosts } = await context.mailHosts()
  const findings = await Promise.all(
    hosts.map(async (host) => ({ host, ...(await evaluateHost(host, context)) })),
  )
  const mx = dataOf(await context.queries.query(context.name, 'MX'), 'MX')
  const hasNullMx = mx.some(({ exchange }) => /^\.?$/.test(exchange))
  const problems = [
    ...(hasNullMx ? [mxProblems.isNotAlone] : []),
    ...findings.flatMap(({ problem }) => problem ?? []),
  ]
  const withoutMx =
    receives === 'address'
      ? [`${context.unicode} has no MX record, so mail goes to the host itself. Publish one.`]
      : []
  const state = worstOf([
    ...findings.map((finding) => finding.state),
    ...(withoutMx.length > 0 || hasNullMx ? (['warning'] as const) : []),
  ])
  const [first, ...rest] = [...problems, ...withoutMx]
  return {
    state,
    summary: first ?? summaryOf(hosts),
    details: [
      ...rest,
      ...(omittedHosts > 0 ? [`${counted(omittedHosts, 'more mail server')} not checked.`] : []),
    ],
    evidence: findings.map(({ host, state: one }) => ({
      label: host.host,
      value: host.addresses.join(', ') || (host.failure ?? 'no address'),
      state: one,
    })),
  }
}

function summaryOf(hosts: MailHost[]): string {
  const addresses = hosts.reduce((sum, host) => sum + host.addresses.length, 0)
  const names = joinItems(
    hosts.map(({ host }) => host),
    4,
  )
  return `Mail goes to ${names} (${counted(addresses, 'address', 'addresses')}).`
}

async function evaluateHost(
  { host, addresses, alias, failure }: MailHost,
  context: DomainContext,
): Promise<{ state: LineState; problem: string | null }> {
  if (parseAddress(host)) return { state: 'bad', problem: mxProblems.isAddress(host) }
  if (failure === 'SERVFAIL' && (await failsValidation(host, 'A', context)))
    return {
      state: 'bad',
      problem: `The DNSSEC signatures of ${host} are not valid, so resolvers that check them do not find it.`,
    }
  if (failure)
    return {
      state: 'unknown',
      problem: `The address of ${host} could not be looked up (${failure}).`,
    }
  if (addresses.length === 0) return { state: 'bad', problem: mxProblems.hasNoAddress(host) }
  const unreachable = addresses.find((address) => !isReachable(address, context.deps))
  if (unreachable !== undefined) {
    const reach = classify(unreachable)
    const why = reach.public ? 'not reachable' : reach.why
    return {
      state: 'bad',
      problem: `The mail server ${host} has the address ${unreachable}, ${why}, which others cannot reach.`,
    }
  }
  return alias === null
    ? { state: 'good', problem: null }
    : {
        state: 'warning',
        problem: mxProblems.isAlias(host, alias),
      }
}
