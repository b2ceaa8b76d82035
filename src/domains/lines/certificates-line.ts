import { daysUntil, tlsWarnings } from '../../diagnostics/tls/tls-warnings.ts'
import { joinItems } from '../../protocols/advice.ts'
import type { Fault } from '../../errors.ts'
import { dataOf } from '../../net/dns.ts'
import { dnsFailureOf } from '../../protocols/dns-queries.ts'
import type { TlsFacts } from '../../net/tls/probe-tls.ts'
import { NOT_SERVED } from '../../net/tls/starttls.ts'
import { endOf } from '../../net/tls/trusted-path.ts'
import { parseStsRecord } from '../../protocols/mail/mta-sts.ts'
import { registeredDomain } from '../../protocols/dmarc/public-suffix.ts'
import { SERVICES, type DomainContext, type Probe, type ServiceName } from '../domain-context.ts'
import { MAX_PROBED_HOSTS } from '../limits.ts'
import type { LineName, LineState } from '../shapes.ts'
import { counted } from '../../counted.ts'
import { unused, worstOf, type Line, type LineResult } from './line.ts'
import { isoDay } from '../../time.ts'

/**
 * Why a connection gave no certificate. `closed`: it was refused. `no-tls`: a server without usable
 * TLS. `not-served`: it refused us before that. `not-reached`: no answer, which may be a firewall
 * here or there.
 */
type Obstacle = 'closed' | 'no-tls' | 'not-served' | 'not-reached'

type Finding = {
  host: string
  state: LineState
  obstacle: Obstacle | null
  /** Empty when all is well. */
  problems: string[]
  value: string
}

type Service = { line: LineName; title: string; service: ServiceName; what: string }

const CERTIFICATE_LINES: Service[] = [
  { line: 'smtp-tls', title: 'Mail server certificates', service: 'smtp', what: 'mail server' },
  {
    line: 'submission-tls',
    title: 'Submission certificates',
    service: 'submission',
    what: 'submission server',
  },
  { line: 'imap-tls', title: 'IMAP certificates', service: 'imaps', what: 'IMAP server' },
  { line: 'web-tls', title: 'Website certificate', service: 'https', what: 'website' },
]

/** One line for each service that has certificates. */
export const certificateLines: Line[] = CERTIFICATE_LINES.map((service) => ({
  name: service.line,
  title: service.title,
  check: (context) => checkService(service, context),
}))

async function checkService(
  { service, what }: Service,
  context: DomainContext,
): Promise<LineResult> {
  const found = await hostsOf(service, context)
  if ('failure' in found)
    return { state: 'unknown', summary: `${found.failure} could not be looked up.` }
  if ('isDeclined' in found)
    return unused(`The domain offers no ${what}: the target of its SRV record is “.”.`)
  const { hosts, isAnnounced } = found
  if (hosts.length === 0) return unused(`The domain has no ${what}.`)
  const isEnforced = service === 'smtp' && (await enforcesTls(context))
  const probed = hosts.slice(0, MAX_PROBED_HOSTS)
  // A refusal is evaluated when all have answered: they show whether it is that of the server.
  const results = await Promise.all(probed.map((host) => context.probe(host, service)))
  const findings = probed.map((host, index) => {
    const result = results[index] as Probe
    return 'facts' in result
      ? evaluateFacts(host, result.facts, { service, isEnforced })
      : evaluateFault(host, result.fault, service, context)
  })
  const isOptional = service !== 'smtp'
  const { port } = SERVICES[service]
  if (isOptional && findings.every(({ obstacle }) => obstacle === 'closed')) {
    const absent = `No ${what} answers on port ${port} of ${joinItems(probed, 4)}`
    return isAnnounced
      ? { state: 'warning', summary: `${absent}, which the domain announces in an SRV record.` }
      : unused(`${absent}.`)
  }
  return summarize(findings, hosts.length - probed.length, port)
}

function summarize(findings: Finding[], omitted: number, port: number): LineResult {
  const offered = findings.filter(({ obstacle }) => obstacle !== 'closed' || port === 25)
  const state = worstOf(offered.map((finding) => finding.state))
  const worst = offered.find((finding) => finding.state === state)
  const all = offered.flatMap(({ problems }) => problems)
  const summary =
    worst?.problems[0] ??
    `${counted(offered.length, 'certificate is', 'certificates are')} valid on port ${port}.`
  return {
    state,
    summary,
    details: [
      ...all.filter((problem) => problem !== summary),
      ...(omitted > 0 ? [`${counted(omitted, 'more host')} not checked.`] : []),
    ],
    evidence: findings.map((finding) => ({
      label: `${finding.host} port ${port}`,
      value: finding.value,
      state: finding.state,
    })),
  }
}

type Hosts = { hosts: string[]; isAnnounced?: boolean } | { isDeclined: true } | { failure: string }

async function hostsOf(service: ServiceName, context: DomainContext): Promise<Hosts> {
  const { name } = context
  if (service === 'https') {
    const { addresses, failure } = await context.addressesOf(name)
    return { hosts: addresses.length > 0 || failure ? [name] : [] }
  }
  const announced = service === 'smtp' ? { hosts: [] } : await announcedHosts(service, context)
  if (!('hosts' in announced) || announced.hosts.length > 0) return announced
  const { receives, error } = await context.mailUse()
  if (receives === 'unknown') return { failure: `The MX records of ${name} (${error})` }
  const { hosts } = await context.mailHosts()
  const exchanges = hosts
    .filter(({ addresses, failure }) => addresses.length > 0 || failure !== null)
    .map(({ host }) => host)
  if (service === 'smtp') return { hosts: exchanges }
  // Providers’ MX hosts take no mail from users.
  return { hosts: exchanges.filter((host) => registeredDomain(host) === context.registeredDomain) }
}

/**
 * RFC 6186: the hosts that the domain names for its users. With the target `.` it declines to offer
 * the service (3.4).
 */
async function announcedHosts(service: ServiceName, context: DomainContext): Promise<Hosts> {
  const name = `${service === 'imaps' ? '_imaps' : '_submission'}._tcp.${context.name}`
  const answer = await context.queries.query(name, 'SRV')
  const failure = dnsFailureOf(answer)
  if (failure) return { failure: `${name} (${failure})` }
  const records = dataOf(answer, 'SRV').map(({ port, target }) => ({
    port,
    host: target.toLowerCase().replace(/\.$/, ''),
  }))
  if (records.length > 0 && records.every(({ host }) => host === '')) return { isDeclined: true }
  const hosts = records
    .filter(({ port, host }) => port === SERVICES[service].port && host !== '')
    .map(({ host }) => host)
  return { hosts: [...new Set(hosts)], isAnnounced: hosts.length > 0 }
}

/** Whether senders insist on a valid certificate (MTA-STS in mode `enforce`). */
async function enforcesTls(context: DomainContext): Promise<boolean> {
  const { found, fetched } = await context.mtaSts()
  if (!found.texts.some((text) => parseStsRecord(text))) return false
  return fetched !== null && 'policy' in fetched && fetched.policy.mode === 'enforce'
}

/** Days before the end of a certificate at which it is late. */
const URGENT_DAYS = 14

function evaluateFacts(
  host: string,
  facts: TlsFacts,
  { service, isEnforced }: { service: ServiceName; isEnforced: boolean },
): Finding {
  const [leaf] = facts.chain
  // RFC 8461, 4.2: senders look for the host in the alternative names only.
  const isRefused = isEnforced && facts.isCommonNameOnly
  const isValid = facts.isTrusted && facts.hostnameMatches && !isRefused
  // Mail servers deliver to any certificate, unless a policy says otherwise.
  const invalid: LineState = service === 'smtp' && !isEnforced ? 'warning' : 'bad'
  const warnings = [
    ...(isRefused
      ? [
          'The certificate has the host only in its common name. Senders that use MTA-STS do not deliver there. Request one with a subject alternative name.',
        ]
      : []),
    ...tlsWarnings(host, facts),
  ]
  const { validTo } = endOf(facts.path)
  const isLate = daysUntil(validTo) < URGENT_DAYS && service !== 'smtp'
  return {
    host,
    obstacle: null,
    state: !isValid ? invalid : warnings.length === 0 ? 'good' : isLate ? 'bad' : 'warning',
    problems: warnings.map((warning) => `${host}: ${warning}`),
    value: `${leaf.subject['CN'] ?? host}, ${facts.protocol}, until ${isoDay(validTo)}`,
  }
}

const STATES: Record<Obstacle, LineState> = {
  closed: 'bad',
  'no-tls': 'bad',
  'not-served': 'unknown',
  'not-reached': 'unknown',
}

/**
 * One rule for every way in which a connection fails: only what the server itself answered tells
 * something about it, on a way that is known to be open. Providers that block port 25 answer with a
 * refusal, too.
 */
function evaluateFault(
  host: string,
  fault: Fault,
  service: ServiceName,
  context: DomainContext,
): Finding {
  const { code, address } = (fault.cause ?? {}) as { code?: string; address?: string }
  const found = obstacleOf(fault)
  const isBlocked =
    service === 'smtp' &&
    (found === 'closed' || (found === 'not-reached' && code !== undefined)) &&
    !context.isSmtpOpen(address)
  const obstacle = isBlocked ? 'not-reached' : found
  const blocked = isBlocked ? ' Many networks block outgoing connections to port 25.' : ''
  return {
    host,
    obstacle,
    state: STATES[obstacle],
    problems: [`${host}: ${fault.message}${blocked}`],
    value: fault.message,
  }
}

/** Why a connection gave no certificate. */
export function obstacleOf({ code, cause }: Fault): Obstacle {
  const { code: reason } = (cause ?? {}) as { code?: string }
  if (reason === 'ECONNREFUSED') return 'closed'
  if (reason === NOT_SERVED) return 'not-served'
  if (code === 'upstream_rejected') return 'no-tls'
  const isNetwork = reason === undefined || /^E[A-Z]+$/.test(reason)
  return code === 'upstream_unreachable' && !isNetwork ? 'no-tls' : 'not-reached'
}
