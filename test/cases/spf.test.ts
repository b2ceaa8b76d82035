import { createDomainContext, type DomainDeps } from '../../src/domains/domain-context.ts'
import { sendersLine } from '../../src/domains/lines/senders-line.ts'
import { spfLine } from '../../src/domains/lines/spf-line.ts'
import { checkMailAuth } from '../../src/diagnostics/mail-auth/mail-auth.ts'
import type { DnsFailure } from '../../src/net/dns.ts'
import { parseHost, type DomainName } from '../../src/net/address.ts'
import { createDnsQueries } from '../../src/protocols/dns-queries.ts'
import { authenticateMail } from '../../src/protocols/mail/mail-authentication.ts'
import { evaluateSpf } from '../../src/protocols/spf/evaluate-spf.ts'
import { mapResolver } from '../resolver.ts'
import type { RecordText, Records } from '../servers/dns-records.ts'
import { runCases } from './run-cases.ts'

type Input = {
  /** The TXT record of example.com, or several; each may be in pieces. */
  spf: string | RecordText[]
  /** Other records; example.com has the address and the mail server of `BESIDE`. */
  records?: Records
  failures?: Record<string, DnsFailure>
  /** The servers whose mail is evaluated. */
  ips?: string[]
  /** Words that a message must have. */
  words?: string
}

const DOMAIN = 'example.com'
const BESIDE: Records = {
  'example.com A': ['192.0.2.80'],
  'example.com MX': ['10 mail.example.com'],
  'mail.example.com A': ['192.0.2.25'],
}
const MAIL = Buffer.from(`From: a@${DOMAIN}\r\n\r\nHello\r\n`)

/**
 * What the product says of an SPF record: the check, the lines of the domain page and its fix, and
 * the result for mail on each path that evaluates SPF.
 */
async function stateFacts({ spf, records, failures, ips = [], words }: Input) {
  const zone = { ...BESIDE, ...records, [`${DOMAIN} TXT`]: [spf].flat() }
  const resolver = mapResolver(zone, failures)
  const signal = new AbortController().signal
  const context = createDomainContext(
    parseHost(DOMAIN) as DomainName,
    { resolver } as unknown as DomainDeps,
    signal,
  )
  const [line, senders] = await Promise.all([spfLine.check(context), sendersLine.check(context)])
  const fetchFile = () => Promise.reject(new Error('no policy is published'))
  const check = await checkMailAuth({ domain: DOMAIN, ip: ips }, { resolver, fetchFile }, signal)
  const warnings = check.warnings.filter(({ about }) => about === 'spf')
  const fix = line.proposals?.find(({ name }) => name === DOMAIN)?.value ?? null
  const published = warnings.flatMap(({ publish }) =>
    publish?.name === DOMAIN ? [publish.value] : [],
  )
  const messages = warnings.map(({ message }) => message)
  return {
    spf: line.state,
    senders: senders.state,
    summary: senders.summary,
    anyone: messages.some((one) => /permits? (every server|a large part)/.test(one)),
    fix,
    isOneFix: published.every((value) => value === fix) && published.length > 0 === (fix !== null),
    isSaid: words === undefined || messages.some((one) => one.includes(words)),
    results: await Promise.all(
      ips.map(async (ip, index) => {
        const client = { ip, sender: `postmaster@${DOMAIN}`, helo: DOMAIN, mta: 'mx.example.net' }
        const queries = createDnsQueries(resolver, signal)
        const all = [
          (await evaluateSpf(client, queries)).result,
          (await authenticateMail(MAIL, client, resolver, signal)).spf.result,
          check.spf.senders?.[index]?.result,
        ]
        return new Set(all).size === 1 ? all[0] : all
      }),
    ),
  }
}

runCases('spf.json', stateFacts)
