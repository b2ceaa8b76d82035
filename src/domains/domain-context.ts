import { once } from '../once.ts'
import type { PrivateTargets } from '../setting-values.ts'
import {
  findProviders,
  gatherBimi,
  gatherDkim,
  gatherDmarc,
  gatherMtaSts,
} from '../diagnostics/mail-auth/mail-auth-facts.ts'
import {
  receivesMailAtAll,
  sendsMailAtAll,
  usesMailAtAll,
} from '../diagnostics/mail-auth/mail-auth-advice.ts'
import { Fault } from '../errors.ts'
import type { Logger } from '../log.ts'
import { canonical, isAllowed, parseHost, type DomainName } from '../net/address.ts'
import { dataOf, type DnsAnswer, type DnsFailure, type Resolver } from '../net/dns.ts'
import { checkTarget } from '../net/guard.ts'
import { createSmtpReach, smtpReach, type SmtpReach } from '../net/smtp-reach.ts'
import { getSmall } from '../net/http/get-small.ts'
import { probeTls, type TlsFacts, type TlsProbe } from '../net/tls/probe-tls.ts'
import type { StartTls } from '../net/tls/starttls.ts'
import { createDnsQueries, dnsFailureOf, type DnsQueries } from '../protocols/dns-queries.ts'
import { registeredDomain } from '../protocols/dmarc/public-suffix.ts'
import type { Blocklists } from '../protocols/dnsbl/blocklists.ts'
import type { DomainLists } from '../protocols/dnsbl/domain-lists.ts'
import { lookUpMailUse, receivingHosts } from '../protocols/mail/mail-use.ts'
import { permittedSenders, type Senders } from '../protocols/spf/spf-senders.ts'
import { walkSpf } from '../protocols/spf/spf-tree.ts'
import { MAX_ADDRESSES_PER_HOST, MAX_MAIL_HOSTS, PROBE_TIMEOUT_MS } from './limits.ts'
import type { RegistrationLookup } from './registration-lookup.ts'

/** The services whose certificates are checked, and their usual ports. */
export const SERVICES = {
  smtp: { port: 25, starttls: 'smtp' },
  submission: { port: 587, starttls: 'smtp' },
  imaps: { port: 993 },
  https: { port: 443 },
} as const satisfies Record<string, { port: number; starttls?: StartTls }>
export type ServiceName = keyof typeof SERVICES

/** What checks of domains need. */
export type DomainDeps = MailDeps & {
  blocklists: Blocklists
  domainLists: DomainLists
  registrations: RegistrationLookup
}

/** What checks of a domain’s mail records need. */
export type MailDeps = {
  resolver: Resolver
  allowPrivate: PrivateTargets
  log: Logger
  /** DKIM selectors that the domain is known to sign with, from the workspace’s own reports. */
  selectorsSeen?: ((domain: string) => Promise<string[]>) | undefined
  /** The workspace’s report address for the domain; null when it is not registered. */
  reportEmailOf?: ((domain: string) => Promise<string | null>) | undefined
  /** The strictest policy that the workspace’s reports about the domain show to be safe. */
  safePolicyOf?: ((domain: string) => Promise<'quarantine' | 'reject' | null>) | undefined
  /** What is known of the way to port 25; by default what this process has found out. */
  smtpReach?: SmtpReach | undefined
  /** Other ports than the usual ones, for tests. */
  ports?: Partial<Record<ServiceName, number>> | undefined
}

/** A host that receives mail for the domain. */
export type MailHost = {
  host: string
  /** In canonical form; empty when the host has none, or when `failure` says why. */
  addresses: string[]
  /** Addresses beyond the limit. */
  omittedAddresses: number
  /** Where a CNAME leads; an MX must not be an alias (RFC 5321, 5.1). */
  alias: string | null
  failure: DnsFailure | null
  /** The answer that the addresses are from. Of A and AAAA one may have failed. */
  answer: DnsAnswer
}

type MailHosts = { hosts: MailHost[]; omittedHosts: number }

type ProbeOptions = Pick<TlsProbe, 'withoutRoots'> & {
  /** The name in SNI; that of the host without. */
  servername?: string
}

/** The result of one connection: what was found, or why there was none. */
export type Probe = { facts: TlsFacts } | { fault: Fault }

/** The facts of one check. Each is looked up once, when the first line needs it. */
export type DomainContext<D extends MailDeps = DomainDeps> = DomainName & {
  registeredDomain: string
  deps: D
  queries: DnsQueries
  /** Asks through `queries`, for functions that expect a resolver. */
  resolver: Resolver
  signal: AbortSignal
  now: Date
  own: () => ReturnType<DnsQueries['lookUpTxt']>
  mailUse: () => ReturnType<typeof lookUpMailUse>
  mailHosts: () => Promise<MailHosts>
  /** False for a domain that neither sends nor receives mail. */
  usesMail: () => Promise<boolean>
  receivesMail: () => Promise<boolean>
  /** False for a domain that only receives, too. */
  sendsMail: () => Promise<boolean>
  spf: () => ReturnType<typeof walkSpf>
  senders: () => Promise<Senders>
  providers: () => ReturnType<typeof findProviders>
  dkim: () => ReturnType<typeof gatherDkim>
  dmarc: () => ReturnType<typeof gatherDmarc>
  mtaSts: () => ReturnType<typeof gatherMtaSts>
  bimi: () => ReturnType<typeof gatherBimi>
  /**
   * Whether the resolver that gave this answer validates DNSSEC: the root is signed. Of several
   * resolvers, one may validate and another not.
   */
  isValidated: (answer: DnsAnswer) => Promise<boolean>
  addressesOf: (host: string) => Promise<MailHost>
  probe: (host: string, service: ServiceName, options?: ProbeOptions) => Promise<Probe>
  /**
   * Whether connections to port 25 leave this network: a mail server of the domain accepted one, or
   * lately that of another.
   */
  isSmtpOpen: (address?: string) => boolean
}

export function createDomainContext<D extends MailDeps>(
  name: DomainName,
  deps: D,
  signal: AbortSignal,
): DomainContext<D> {
  const queries = createDnsQueries(deps.resolver, signal)
  const guarded = {
    resolver: sharedResolver(queries, deps.resolver),
    allowPrivate: deps.allowPrivate,
  }
  const fetchFile = (url: URL) => getSmall(url, guarded, patienceOf(signal))
  const domain = name.name
  const hosts = new Map<string, Promise<MailHost>>()
  const probes = new Map<string, Promise<Probe>>()
  const lately = deps.smtpReach ?? smtpReach
  const here = createSmtpReach(() => true)
  const onConnected = (address: string) => [here, lately].forEach((reach) => reach.note(address))

  const mailUse = once(() => lookUpMailUse(domain, queries))
  const spf = once(() => walkSpf(domain, queries))
  const dkim = once(async () => gatherDkim(domain, await knownSelectors(domain, deps), queries))
  const useFacts = async () => ({ mailUse: await mailUse(), spf: await spf(), dkim: await dkim() })
  const addressesOf = (host: string) => remember(hosts, host, () => lookUpHost(host, queries))
  return {
    ...name,
    registeredDomain: registeredDomain(domain) ?? domain,
    deps,
    queries,
    resolver: guarded.resolver,
    signal,
    now: new Date(),
    own: once(() => queries.lookUpTxt(domain)),
    mailUse,
    mailHosts: once(async () => {
      const names = receivingHosts(domain, await mailUse())
      const found = await Promise.all(names.slice(0, MAX_MAIL_HOSTS).map(addressesOf))
      return { hosts: found, omittedHosts: Math.max(0, names.length - MAX_MAIL_HOSTS) }
    }),
    usesMail: once(async () => usesMailAtAll(await useFacts())),
    receivesMail: once(async () => receivesMailAtAll(await useFacts())),
    sendsMail: once(async () => sendsMailAtAll(await useFacts())),
    spf,
    senders: once(async () => permittedSenders(await spf())),
    providers: once(() => findProviders(domain, queries)),
    dkim,
    dmarc: once(() => gatherDmarc(domain, queries)),
    mtaSts: once(() => gatherMtaSts(domain, queries, fetchFile)),
    bimi: once(() => gatherBimi(domain, queries)),
    async isValidated({ server }) {
      const root = await queries.query('.', 'SOA')
      return root.status === 'NOERROR' && root.isAuthenticated && root.server === server
    },
    addressesOf,
    probe: (host, service, options = {}) =>
      remember(probes, `${host} ${service} ${options.withoutRoots} ${options.servername}`, () => {
        const noted = service === 'smtp' ? { onConnected } : {}
        const all = { ...guarded, ...options, ...noted, ports: deps.ports }
        return probe(host, service, all, patienceOf(signal))
      }),
    isSmtpOpen: (address) => here.isOpen(address) || lately.isOpen(address),
  }
}

function remember<T>(known: Map<string, Promise<T>>, key: string, work: () => Promise<T>) {
  const result = known.get(key) ?? work()
  known.set(key, result)
  return result
}

const patienceOf = (signal: AbortSignal) =>
  AbortSignal.any([signal, AbortSignal.timeout(PROBE_TIMEOUT_MS)])

/** The resolver of the check, for functions that ask by themselves: each name is asked once. */
function sharedResolver(queries: DnsQueries, resolver: Resolver): Resolver {
  return {
    servers: resolver.servers,
    query: (name, type, signal, options) =>
      options ? resolver.query(name, type, signal, options) : queries.query(name, type),
  }
}

const SELECTOR = /^[\w-]{1,63}(?:\.[\w-]{1,63}){0,3}$/

/** Without the reports there are still the common selectors. */
async function knownSelectors(domain: string, { selectorsSeen }: MailDeps): Promise<string[]> {
  const seen = (await selectorsSeen?.(domain).catch(() => [])) ?? []
  return seen.filter((selector) => SELECTOR.test(selector))
}

async function lookUpHost(host: string, queries: DnsQueries): Promise<MailHost> {
  const [v4, v6] = await Promise.all([queries.query(host, 'A'), queries.query(host, 'AAAA')])
  const all = [...dataOf(v4, 'A'), ...dataOf(v6, 'AAAA')].map(canonical)
  const addresses = [...new Set(all)]
  const aliases = [v4, v6].flatMap((answer) => (answer.status === 'FAILED' ? [] : answer.cnames))
  const answered = [v4, v6].filter((answer) => answer.status !== 'FAILED')
  const withAddresses = answered.filter(({ records }) => records.length > 0)
  return {
    host,
    addresses: addresses.slice(0, MAX_ADDRESSES_PER_HOST),
    omittedAddresses: Math.max(0, addresses.length - MAX_ADDRESSES_PER_HOST),
    alias: aliases.at(-1) ?? null,
    failure: addresses.length > 0 ? null : (dnsFailureOf(v4) ?? dnsFailureOf(v6)),
    answer:
      withAddresses.find(({ isAuthenticated }) => isAuthenticated) ??
      withAddresses[0] ??
      answered[0] ??
      v4,
  }
}

type ProbeDeps = ProbeOptions & {
  onConnected?: TlsProbe['onConnected']
  resolver: Resolver
  allowPrivate: PrivateTargets
  ports: MailDeps['ports']
}

async function probe(
  host: string,
  service: ServiceName,
  { ports, withoutRoots, servername, onConnected, ...guarded }: ProbeDeps,
  signal: AbortSignal,
): Promise<Probe> {
  const settings: { port: number; starttls?: StartTls } = SERVICES[service]
  try {
    const found = await checkTarget(parseHost(host), guarded, signal)
    const target = servername === undefined ? found : { ...found, servername }
    const port = ports?.[service] ?? settings.port
    const { starttls } = settings
    const wish = { target, port, starttls, withoutRoots, onConnected, signal }
    return { facts: await probeTls(wish) }
  } catch (fault) {
    if (fault instanceof Fault) return { fault }
    throw fault
  }
}

/** Whether connections to an address are allowed here; others cannot reach it either. */
export function isReachable(address: string, { allowPrivate }: MailDeps): boolean {
  return isAllowed(address, allowPrivate)
}
