import { Fault, invalidField } from '../../errors.ts'
import { canonical, parseHost } from '../../net/address.ts'
import { dataOf, type DnsAnswer } from '../../net/dns.ts'
import { decodeTxt } from '../../protocols/dns-queries.ts'
import { defineCheck } from '../check.ts'
import type { CheckDeps } from '../check-services.ts'
import { DNS_CHECK_TYPES, type DnsAnswers, type DnsRecords } from './dns-answers.ts'
import { dnsWarnings } from './dns-warnings.ts'
import { DnsQuery, DnsResult } from '../shapes.ts'

export const dnsCheck = defineCheck({
  name: 'dns',
  path: '/api/v1/dns-check',
  summary: 'Check the DNS records of a domain',
  description:
    'Queries all record types at once. A name that does not exist returns `status: "NXDOMAIN"`. If the query for a type fails, `errors` gives the reason and the array of the type is empty.',
  query: DnsQuery,
  data: DnsResult,
  example: {
    query: { domain: 'example.com' },
    data: {
      domain: 'example.com',
      unicodeDomain: 'example.com',
      status: 'NOERROR',
      a: ['192.0.2.10'],
      aaaa: ['2001:db8::10'],
      mx: [{ exchange: 'mail.example.com', priority: 10 }],
      txt: ['v=spf1 mx -all'],
      cname: [],
      ns: ['ns1.example.com', 'ns2.example.net'],
      soa: {
        mname: 'ns1.example.com',
        rname: 'hostmaster.example.com',
        serial: 2026112101,
        refresh: 7200,
        retry: 900,
        expire: 1209600,
        minimum: 300,
      },
      caa: [{ flags: 0, tag: 'issue', value: 'letsencrypt.org' }],
      ttl: 300,
      errors: {},
      durationMs: 18,
      warnings: [],
    },
  },
  run: checkDns,
})

async function checkDns(
  query: { domain: string },
  { resolver }: CheckDeps,
  signal: AbortSignal,
): Promise<DnsResult> {
  const started = performance.now()
  const host = parseHost(query.domain, 'domain')
  if (host.kind === 'ip') throw needsName(host.address)
  const asked = DNS_CHECK_TYPES.map(async (type) => [
    type.toLowerCase(),
    await resolver.query(host.name, type, signal),
  ])
  const answers = Object.fromEntries(await Promise.all(asked)) as DnsAnswers
  requireAnswer(host.name, answers)
  const records = readRecords(answers)
  return {
    domain: host.name,
    unicodeDomain: host.unicode,
    status: statusOf(answers),
    ...records,
    ttl: leastTtl(answers),
    errors: failuresOf(answers),
    warnings: await dnsWarnings(host.name, answers, records, resolver, signal),
    durationMs: Math.round(performance.now() - started),
  }
}

function needsName(address: string): Fault {
  const message = 'is an IP address; enter a domain name'
  return invalidField('domain', message, address)
}

function requireAnswer(name: string, answers: DnsAnswers): void {
  const failures = new Set(Object.values(failuresOf(answers)))
  if (Object.values(answers).some((answer) => answer.status !== 'FAILED')) return
  throw new Fault(
    'upstream_unreachable',
    `No name server answered for ${name}: ${[...failures].join(', ')}.`,
  )
}

/** Every question is about the same name, so one answer that knows it settles that it exists. */
function statusOf(answers: DnsAnswers): DnsResult['status'] {
  const exists = Object.values(answers).some(
    // RFC 6604: an alias whose target does not exist says NXDOMAIN as well.
    (answer) =>
      answer.status === 'NOERROR' || (answer.status === 'NXDOMAIN' && answer.cnames.length > 0),
  )
  return exists ? 'NOERROR' : 'NXDOMAIN'
}

function failuresOf(answers: DnsAnswers): Record<string, string> {
  const failed = Object.entries(answers).flatMap(([field, answer]) =>
    answer.status === 'FAILED' ? [[field, answer.failure]] : [],
  )
  return Object.fromEntries(failed)
}

function leastTtl(answers: DnsAnswers): number {
  return Math.min(
    ...Object.values(answers).map((answer) => (answer.status === 'FAILED' ? 0 : answer.ttl)),
  )
}

function readRecords(answers: DnsAnswers): DnsRecords {
  return {
    a: sorted(dataOf(answers.a, 'A').map(canonical)),
    aaaa: sorted(dataOf(answers.aaaa, 'AAAA').map(canonical)),
    mx: dataOf(answers.mx, 'MX')
      .map(({ exchange, preference = 0 }) => ({ exchange, priority: preference }))
      .toSorted(
        (one, other) => one.priority - other.priority || (one.exchange < other.exchange ? -1 : 1),
      ),
    txt: sorted(dataOf(answers.txt, 'TXT').map(decodeTxt)),
    cname: cnameChain(answers),
    ns: sorted(dataOf(answers.ns, 'NS')),
    soa: soaOf(answers.soa),
    caa: dataOf(answers.caa, 'CAA').map(({ flags = 0, tag, value }) => ({ flags, tag, value })),
  }
}

/** Servers may repeat a record, and turn their order with every answer. */
function sorted(values: string[]): string[] {
  return [...new Set(values)].toSorted()
}

/** The alias itself, then where it leads; the address queries see the whole chain. */
function cnameChain(answers: DnsAnswers): string[] {
  const chains = Object.values(answers).map((answer) =>
    answer.status === 'FAILED' ? [] : answer.cnames,
  )
  const longest = chains.toSorted((one, other) => other.length - one.length)[0] ?? []
  return longest.length > 0 ? longest : dataOf(answers.cname, 'CNAME')
}

function soaOf(answer: DnsAnswer): DnsResult['soa'] {
  const [soa] = dataOf(answer, 'SOA')
  if (!soa) return null
  const { mname, rname, serial = 0, refresh = 0, retry = 0, expire = 0, minimum = 0 } = soa
  return { mname, rname, serial, refresh, retry, expire, minimum }
}
