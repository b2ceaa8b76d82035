import type { Config } from '../../config.ts'
import type { CheckDeps } from '../../diagnostics/check-services.ts'
import { bad, doubtful, good, type Finding } from '../../diagnostics/health/service-checks.ts'
import { messageOf } from '../../errors.ts'
import { canReceiveReports } from '../../dmarc/domains/report-email.ts'
import { certificateOf } from '../../dmarc/module.ts'
import { dataOf } from '../../net/dns.ts'
import { askService } from '../../net/http/event-stream.ts'
import { readCertificate } from '../../net/smtp-server.ts'
import { isServing } from './check-ports.ts'

const TIMEOUT_MS = 5_000

/** Requests BASE_URL as a browser would, while the service runs. */
export async function checkBaseUrl(config: Config): Promise<Finding[]> {
  const { BASE_URL } = config
  if (!config.ROLES.includes('web') || !isServing(config)) return []
  const advice = 'Check its DNS record and the proxy.'
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  try {
    const { status } = await askService<{ status?: string }>(urlOf(BASE_URL), null, signal, null)
    if (status === 'ok') return [good('BASE_URL', `${BASE_URL} responds.`)]
    return [bad('BASE_URL', `${BASE_URL} is not answered by Portreeve. ${advice}`)]
  } catch (error) {
    const what = `${BASE_URL} cannot be reached from this machine: ${messageOf(error)}`
    return [doubtful('BASE_URL', `${what.replace(/\.?$/, '.')} ${advice}`)]
  }
}

const urlOf = (base: string) => new URL(`${base}/healthz`)

/** Networks so large that a client could be in them, and forge its address. */
const MIN_PREFIX_BITS = { ipv4: 8, ipv6: 7 } as const

/** Checks whose X-Forwarded-For is trusted. */
export function checkProxies({ TRUSTED_PROXIES, BASE_URL }: Config): Finding[] {
  const about = 'proxies'
  const networks = TRUSTED_PROXIES.filter((proxy) => typeof proxy !== 'string')
  const wide = networks.find(([address, bits]) => bits < MIN_PREFIX_BITS[address.kind()])
  if (wide) {
    const effect = 'so that clients can forge their address'
    const what = `TRUSTED_PROXIES has ${wide.join('/')}, ${effect}.`
    return [bad(about, `${what} Name only the network of the proxy.`)]
  }
  if (TRUSTED_PROXIES.length > 0) {
    const named = TRUSTED_PROXIES.map((one) => (typeof one === 'string' ? one : one.join('/')))
    return [good(about, `Proxies in ${named.join(', ')} name the client.`)]
  }
  if (!BASE_URL.startsWith('https:')) return []
  const why = 'BASE_URL is https, which a proxy provides, but TRUSTED_PROXIES is empty:'
  const effect = 'all clients have the address of the proxy.'
  return [doubtful(about, `${why} ${effect} Set it to the network of the proxy.`)]
}

/** Reads the certificate of the SMTP server as the service does at its start. */
export function checkSmtpCertificate(config: Config): Finding[] {
  if (!config.ROLES.includes('smtp') || !config.SMTP_LISTEN) return []
  try {
    const certificate = certificateOf(config)
    if (!certificate) return []
    readCertificate(certificate)
    return [good('STARTTLS', `The certificate ${certificate.cert} can be read.`)]
  } catch (error) {
    return [bad('STARTTLS', `${messageOf(error)} Correct SMTP_TLS_CERT and SMTP_TLS_KEY.`)]
  }
}

/** Whether mail for the addresses that receive reports has a way to this machine. */
export async function checkReportDomain(
  { REPORT_DOMAIN, SMTP_LISTEN, ROLES }: Config,
  { resolver }: CheckDeps,
): Promise<Finding[]> {
  const about = 'reports'
  if (!ROLES.includes('smtp') || !SMTP_LISTEN) return []
  if (!canReceiveReports(REPORT_DOMAIN)) {
    const what = `No report can arrive by mail: ${REPORT_DOMAIN} is not a public name.`
    const how = 'Set REPORT_DOMAIN to a domain whose MX record points here.'
    return [doubtful(about, `${what} ${how}`)]
  }
  const answer = await resolver.query(REPORT_DOMAIN, 'MX', AbortSignal.timeout(TIMEOUT_MS))
  if (answer.status === 'FAILED') return []
  const hosts = dataOf(answer, 'MX').map(({ exchange }) => exchange)
  if (hosts.length > 0)
    return [good(about, `Mail for ${REPORT_DOMAIN} goes to ${hosts.join(', ')}.`)]
  const what = `${REPORT_DOMAIN} has no MX record, so reports may not arrive.`
  return [doubtful(about, `${what} Publish one that points to this machine.`)]
}
