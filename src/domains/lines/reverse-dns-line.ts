import { classify, reverseName } from '../../net/address.ts'
import { registeredDomain } from '../../protocols/dmarc/public-suffix.ts'
import {
  isGenericName,
  lookUpReverse,
  type ReverseDns,
} from '../../protocols/networks/reverse-dns.ts'
import type { DomainContext } from '../domain-context.ts'
import { propose, type Proposal } from '../fixes/proposal.ts'
import { MAX_REVERSE_ADDRESSES } from '../limits.ts'
import { singleAddresses } from '../domain-senders.ts'
import type { LineState } from '../shapes.ts'
import { counted } from '../../counted.ts'
import { unused, worstOf, type Line, type LineResult } from './line.ts'

/** An address of a mail server, and its host where it is known. */
type Subject = { ip: string; host: string | null; isSender: boolean }
type Finding = Subject & { reverse: ReverseDns; state: LineState; problem: string | null }

export const reverseDnsLine: Line = {
  name: 'reverse-dns',
  title: 'Reverse DNS',
  check: checkReverseDns,
}

async function checkReverseDns(context: DomainContext): Promise<LineResult> {
  const subjects = await findSubjects(context)
  const checked = subjects.slice(0, MAX_REVERSE_ADDRESSES)
  if (checked.length === 0) return unused('The domain has no mail server with a public address.')
  const findings = await Promise.all(checked.map((subject) => checkAddress(subject, context)))
  const omitted = subjects.length - checked.length
  const state = worstOf(findings.map((finding) => finding.state))
  const wrong = findings.filter(({ problem }) => problem !== null)
  return {
    state,
    summary:
      wrong.length === 0
        ? `${counted(checked.length, 'address has', 'addresses have')} a name that leads back to ${checked.length === 1 ? 'it' : 'them'}.`
        : (wrong.toSorted((one, other) =>
            one.state === other.state ? 0 : one.state === state ? -1 : 1,
          )[0]?.problem ?? ''),
    details: [
      ...wrong.slice(1).map(({ problem }) => problem ?? ''),
      ...(omitted > 0
        ? [`${counted(omitted, 'more address', 'more addresses')} not checked.`]
        : []),
    ],
    evidence: findings.map(({ ip, host, reverse, state: one }) => ({
      label: host === null ? ip : `${ip} (${host})`,
      value: reverse.names.join(', ') || reverse.status,
      state: one,
    })),
    proposals: findings.flatMap((finding) => proposalFor(finding, context)),
  }
}

/** Addresses of the mail servers, then the single ones that SPF permits. */
async function findSubjects(context: DomainContext): Promise<Subject[]> {
  const [{ hosts }, senders] = await Promise.all([context.mailHosts(), context.senders()])
  const single = singleAddresses(senders)
  const permitted = new Set(single)
  const subjects = new Map<string, Subject>()
  for (const { host, addresses } of hosts)
    for (const ip of addresses) subjects.set(ip, { ip, host, isSender: permitted.has(ip) })
  for (const ip of single)
    if (!subjects.has(ip)) subjects.set(ip, { ip, host: null, isSender: true })
  return [...subjects.values()].filter(({ ip }) => classify(ip).public)
}

async function checkAddress(
  subject: Subject,
  { resolver, signal }: DomainContext,
): Promise<Finding> {
  const { ip, isSender } = subject
  const reverse = await lookUpReverse(ip, resolver, signal)
  const finding = (state: LineState, problem: string | null) => ({
    ...subject,
    reverse,
    state,
    problem,
  })
  // Many receivers reject mail from an address without a confirmed name.
  const grave = isSender ? 'bad' : 'warning'
  if (reverse.status === 'unknown')
    return finding('unknown', `The reverse DNS of ${ip} could not be looked up.`)
  if (reverse.status === 'missing') return finding(grave, `${ip} has no name in reverse DNS.`)
  const [name = ''] = reverse.names
  if (reverse.status === 'unconfirmed')
    return finding(grave, `${ip} has the name ${name}, which does not lead back to it.`)
  return isGenericName(name, ip)
    ? finding('warning', `${ip} has a generic name (${name}), as dial-up customers do.`)
    : finding('good', null)
}

/** Only for hosts of the domain itself: others are in the hands of their operators. */
function proposalFor({ ip, host, reverse, state }: Finding, context: DomainContext): Proposal[] {
  if (host === null || registeredDomain(host) !== context.registeredDomain) return []
  if (reverse.status !== 'missing' && reverse.status !== 'unconfirmed') return []
  const [before = null] = reverse.names
  const reason =
    'Receivers reject mail from servers whose address and name do not confirm each other.'
  return [
    propose({
      name: reverseName(ip),
      type: 'PTR',
      line: 'reverse-dns',
      severity: state === 'bad' ? 'bad' : 'warning',
      published: reverse.names,
      value: host,
      changes: [{ removed: before, added: host, reason }],
      caution: 'Reverse DNS is set at the provider of the address.',
    }),
  ]
}
