import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import type { CheckDeps } from '../../src/diagnostics/check-services.ts'
import { tlsCheck } from '../../src/diagnostics/tls/tls.ts'
import { tlsVerdict } from '../../src/diagnostics/check-verdict.ts'
import { createDomainContext, type DomainDeps } from '../../src/domains/domain-context.ts'
import { certificateLines } from '../../src/domains/lines/certificates-line.ts'
import { Fault } from '../../src/errors.ts'
import { checkCertificates } from '../../src/monitoring/certificates/check-certificates.ts'
import type { LineName } from '../../src/domains/shapes.ts'
import type { DnsFailure } from '../../src/net/dns.ts'
import { mapResolver } from '../resolver.ts'
import { makeCertificate, type Certified } from '../servers/certificates.ts'
import type { Records } from '../servers/dns-records.ts'
import { SCRIPTS, startPlainServer, startTlsServer } from '../servers/tls.ts'
import { runCases } from './run-cases.ts'

type Wish = Omit<Parameters<typeof makeCertificate>[0], 'issuer' | 'sameKeyAs'> & {
  issuer?: string
  sameKeyAs?: string
}
type Case = {
  /** By name; each is issued by an earlier one, or signs itself. */
  certificates: Record<string, Wish>
  /** What the server sends, its own certificate first. */
  sends: string[]
  /** The roots that are trusted. */
  trusts: string[]
  host: string
  /** Of a mail host: whether senders insist on a valid certificate (MTA-STS). */
  isEnforced?: boolean
}

/** The check of a certificate, monitoring, and the line of a mail host on the domain page. */
async function check(input: Case) {
  const made: Record<string, Certified> = {}
  for (const [name, { issuer, sameKeyAs, ...wish }] of Object.entries(input.certificates))
    made[name] = makeCertificate({
      ...wish,
      ...(issuer && { issuer: made[issuer] }),
      ...(sameKeyAs && { sameKeyAs: made[sameKeyAs] }),
    })
  const pem = (names: string[]) => names.map((name) => made[name]?.cert).join('')
  const certificate = { key: made[input.sends[0] ?? '']?.key ?? '', cert: pem(input.sends) }
  const before = getCACertificates('default')
  setDefaultCACertificates([...before, ...input.trusts.map((name) => pem([name]))])
  const servers = await Promise.all([
    startTlsServer(certificate),
    startTlsServer({ ...certificate, script: SCRIPTS.smtp }),
  ])
  try {
    const [{ port }, smtp] = servers
    const found = await tlsCheck.run({ domain: input.host, port }, depsOf(input.host), signalOf())
    const monitored = await checkCertificates(
      { host: input.host, tlsPorts: [port] } as never,
      depsOf(input.host),
      signalOf(),
    )
    const line = await lineOf('smtp-tls', input, { smtp: smtp.port })
    return {
      ...found,
      warnings: found.warnings.map(withoutDates),
      verdict: tlsVerdict(found).state,
      monitoring: monitored.get(port)?.state,
      mail: { state: line.state, summary: withoutDates(line.summary) },
    }
  } finally {
    setDefaultCACertificates(before)
    await Promise.all(servers.map((server) => server.close()))
  }
}

const withoutDates = (text: string) => text.replaceAll(/\d{4}-\d\d-\d\d/g, 'DATE')
const signalOf = () => AbortSignal.timeout(30_000)
const depsOf = (host: string) =>
  ({
    resolver: mapResolver({ [`${host} A`]: ['127.0.0.1'] }),
    allowPrivate: true,
  }) as unknown as CheckDeps

type Target = Pick<Case, 'host' | 'isEnforced'> & Pick<ServerCase, 'records' | 'failures'>

async function lineOf(name: LineName, target: Target, ports: DomainDeps['ports']) {
  const records = {
    'domain.test MX': [`10 ${target.host}`],
    [`${target.host} A`]: ['127.0.0.1'],
    ...target.records,
  }
  const deps = { resolver: mapResolver(records, target.failures), allowPrivate: true, ports }
  const domain = { kind: 'name', name: 'domain.test', unicode: 'domain.test' } as const
  const context = createDomainContext(domain, deps as unknown as DomainDeps, signalOf())
  const mode = target.isEnforced ? 'enforce' : 'none'
  const found = { texts: ['v=STSv1; id=1'] }
  const mtaSts = async () => ({ found, fetched: { policy: { mode } } }) as never
  const line = certificateLines.find((each) => each.name === name)
  if (!line) throw new Error(`there is no line ${name}`)
  return line.check({ ...context, mtaSts })
}

runCases('tls.json', check)

type ServerCase = {
  line: LineName
  /** The server’s lines, one after another: its greeting, and a reply to each request. */
  says?: string[]
  records?: Records
  failures?: Record<string, DnsFailure>
}

/** A line of the domain page for a server that speaks these lines, without TLS. */
async function checkServer({ line, says = [], records = {}, failures = {} }: ServerCase) {
  const [greeting = '', ...replies] = says
  const script = { greeting, replies: replies.map((say) => ({ to: /./, say })) }
  const server = await (replies.length > 0
    ? startTlsServer({ ...PLAIN, script: inTurn(script) })
    : startPlainServer(greeting))
  try {
    const ports = { smtp: server.port, submission: server.port, imaps: server.port }
    const {
      state,
      isUsed = true,
      summary,
    } = await lineOf(line, { host: 'mx.test', records, failures }, ports)
    return { state, isUsed, summary }
  } catch (error) {
    if (error instanceof Fault) return { state: 'fault', summary: error.message }
    throw error
  } finally {
    await server.close()
  }
}

const PLAIN = makeCertificate({ subject: '/CN=mx.test', altNames: ['DNS:mx.test'] })

/** Each reply once; after a 220 to STARTTLS, TLS begins. */
function inTurn({ greeting, replies }: { greeting: string; replies: { say: string }[] }) {
  const [ehlo, starttls] = replies
  return {
    greeting,
    replies: [
      { to: /^EHLO/, say: ehlo?.say ?? '' },
      {
        to: /^STARTTLS/,
        say: starttls?.say ?? '',
        ...(starttls?.say.startsWith('220') && { upgrade: true as const }),
      },
    ],
  }
}

runCases('mail-servers.json', checkServer)
