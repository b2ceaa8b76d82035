import { daysUntil, tlsWarnings } from '../../diagnostics/tls/tls-warnings.ts'
import { joinItems } from '../../protocols/advice.ts'
import type { Fault } from '../../errors.ts'
import { dataOf } from '../../net/dns.ts'
import type { TlsFacts } from '../../net/tls/probe-tls.ts'
import { registeredDomain } from '../../protocols/dmarc/public-suffix.ts'
import { SERVICES, type DomainContext, type Probe, type ServiceName } from '../domain-context.ts'
import { MAX_PROBED_HOSTS } from '../limits.ts'
import type { LineName, LineState } from '../shapes.ts'
import { counted, unused, worstOf, type Line, type LineResult } from './line.ts'

/**
 * Why a connection gave no certificate. `closed`: nothing listens. `no-tls`: a server without
 * usable TLS. `not-reached`: no answer, which may be a firewall here or there.
 */
type Obstacle = 'closed' | 'no-tls' | 'not-reached'

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
  const hosts = await hostsOf(service, context)
  if (hosts.length === 0) return unused(`The domain has no ${what}.`)
  const isEnforced = service === 'smtp' && (await enforcesTls(context))
  const probed = hosts.slice(0, MAX_PROBED_HOSTS)
  const findings = await Promise.all(
    probed.map(async (host) => {
      const result = await context.probe(host, service)
      return 'facts' in result
        ? evaluateFacts(host, result.facts, { service, isEnforced })
        : evaluateFault(host, result.fault, service)
    }),
  )
  const isOptional = service !== 'smtp'
  const { port } = SERVICES[service]
  if (isOptional && findings.every(({ obstacle }) => obstacle === 'closed'))
    return unused(`No ${what} answers on port ${port} of ${joinItems(probed, 4)}.`)
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

async function hostsOf(service: ServiceName, context: DomainContext): Promise<string[]> {
  const { name } = context
  if (service === 'https') {
    const { addresses, failure } = await context.addressesOf(name)
    return addresses.length > 0 || failure ? [name] : []
  }
  const { hosts } = await context.mailHosts()
  const exchanges = hosts.filter(({ addresses }) => addresses.length > 0).map(({ host }) => host)
  if (service === 'smtp') return exchanges
  const announced = await announcedHosts(service, context)
  if (announced.length > 0) return announced
  // Providers’ MX hosts take no mail from users.
  return exchanges.filter((host) => registeredDomain(host) === context.registeredDomain)
}

/** RFC 6186: the hosts that the domain names for its users. A target of `.` means: none. */
async function announcedHosts(service: ServiceName, context: DomainContext): Promise<string[]> {
  const label = service === 'imaps' ? '_imaps' : '_submission'
  const answer = await context.queries.query(`${label}._tcp.${context.name}`, 'SRV')
  const hosts = dataOf(answer, 'SRV')
    .filter(({ port }) => port === SERVICES[service].port)
    .map(({ target }) => target.toLowerCase().replace(/\.$/, ''))
  return [...new Set(hosts)].filter((host) => host !== '')
}

/** Whether senders insist on a valid certificate (MTA-STS in mode `enforce`). */
async function enforcesTls(context: DomainContext): Promise<boolean> {
  const { fetched } = await context.mtaSts()
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
  const isValid = facts.isTrusted && facts.hostnameMatches
  // Mail servers deliver to any certificate, unless a policy says otherwise.
  const invalid: LineState = service === 'smtp' && !isEnforced ? 'warning' : 'bad'
  const warnings = tlsWarnings(host, facts)
  const isLate = daysUntil(leaf.validTo) < URGENT_DAYS && service !== 'smtp'
  return {
    host,
    obstacle: null,
    state: !isValid ? invalid : warnings.length === 0 ? 'good' : isLate ? 'bad' : 'warning',
    problems: warnings.map((warning) => `${host}: ${warning}`),
    value: `${leaf.subject['CN'] ?? host}, ${facts.protocol}, until ${leaf.validTo.toISOString().slice(0, 10)}`,
  }
}

const STATES: Record<Obstacle, LineState> = {
  closed: 'bad',
  'no-tls': 'bad',
  'not-reached': 'unknown',
}

function evaluateFault(host: string, fault: Fault, service: ServiceName): Finding {
  const obstacle = obstacleOf(fault)
  const blocked =
    obstacle === 'not-reached' && service === 'smtp'
      ? ' Many networks block outgoing connections to port 25.'
      : ''
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
  if (code === 'upstream_rejected') return 'no-tls'
  const isNetwork = reason === undefined || /^E[A-Z]+$/.test(reason)
  return code === 'upstream_unreachable' && !isNetwork ? 'no-tls' : 'not-reached'
}

/** The chain that a server sent; null when there was no handshake. */
export function chainSentBy(probe: Probe): TlsFacts['chain'] | null {
  return 'facts' in probe ? probe.facts.chain : null
}
