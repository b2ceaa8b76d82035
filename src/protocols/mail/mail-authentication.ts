import { dataOf, type DnsAnswer, type RecordType, type Resolver } from '../../net/dns.ts'
import { createDnsQueries, decodeTxt, type DnsQueries } from '../dns-queries.ts'
import { evaluateSpf } from '../spf/evaluate-spf.ts'

/**
 * The authentication results of a mail, in the terms of RFC 8601: `pass`, `fail`, `none`,
 * `temperror` and so on.
 */
export type Authentication = {
  /** The domain in From; null when there is none. */
  from: string | null
  spf: { result: string; domain: string | null }
  /** The signature that counts: an aligned one that holds, else the first. */
  dkim: { result: string; domain: string | null }
  dmarc: { result: string; policy: string | null }
}

export type Envelope = { ip: string; helo: string; sender: string; mta: string }

/**
 * Checks SPF, DKIM and DMARC of a mail in its original form.
 * @param mail its bytes
 * @param signal ends the queries; those without an answer count as `temperror`
 */
export async function authenticateMail(
  mail: Uint8Array,
  envelope: Envelope,
  resolver: Resolver,
  signal: AbortSignal,
): Promise<Authentication> {
  const [{ dkimVerify }, { evaluateDmarc }] = await Promise.all([
    import('mailauth/lib/dkim/verify.js'),
    import('mailauth/lib/dmarc/index.js'),
  ])
  const options = {
    resolver: (name: string, type: string) => ask(resolver, name, type, signal),
    sender: envelope.sender,
  }
  const [spf, dkim] = await Promise.all([
    checkSpf(envelope, createDnsQueries(resolver, signal)),
    dkimVerify(withCrlf(mail), options),
  ])
  const { response: dmarc } = await evaluateDmarc({
    ...options,
    headerFrom: dkim.headerFrom,
    fromFields: dkim.fromFields,
    spfDomains: spf.result === 'pass' && spf.domain !== null ? [spf.domain] : [],
    dkimDomains: dkim.results.flatMap(({ status, signingDomain }) =>
      status.result === 'pass' && signingDomain ? [{ domain: signingDomain }] : [],
    ),
  })
  const signatures = dkim.results
  const best =
    signatures.find(({ status }) => status.result === 'pass' && status.aligned) ??
    signatures.find(({ status }) => status.result === 'pass') ??
    signatures[0]
  return {
    from: dkim.headerFrom[0]?.split('@').at(-1)?.toLowerCase() ?? null,
    spf,
    dkim: best ? { result: best.status.result, domain: best.signingDomain ?? null } : NONE,
    dmarc: dmarc
      ? { result: dmarc.status.result, policy: dmarc.policy ?? null }
      : { result: 'none', policy: null },
  }
}

/** Evaluates SPF for the envelope sender; for a bounce, for the name of HELO (RFC 7208, 2.4). */
async function checkSpf(envelope: Envelope, queries: DnsQueries): Promise<Authentication['spf']> {
  const { result } = await evaluateSpf(envelope, queries)
  const domain = (envelope.sender || envelope.helo).split('@').at(-1)?.toLowerCase()
  return { result, domain: domain || null }
}

/**
 * Ends every line with CRLF (RFC 5322, 2.1). The library does the same, with a promise for each
 * line that lacks it: tens of thousands of those block the process for seconds.
 */
function withCrlf(mail: Uint8Array): Buffer {
  const bytes = Buffer.from(mail.buffer, mail.byteOffset, mail.length)
  return Buffer.from(bytes.toString('latin1').replace(/(?<!\r)\n/g, '\r\n'), 'latin1')
}

/**
 * Evaluates SPF for the name with which a server greets (RFC 7208, 2.3), and its address.
 * @returns a result of RFC 8601; `temperror` if it was not answered in time
 */
export async function checkHelo(
  helo: string,
  ip: string,
  resolver: Resolver,
  signal: AbortSignal,
): Promise<string> {
  const { result } = await evaluateSpf({ ip, sender: '', helo }, createDnsQueries(resolver, signal))
  return result
}

const NONE = { result: 'none', domain: null }

/** Adapts the resolver to the interface of `node:dns`, which the library uses. */
async function ask(
  resolver: Resolver,
  name: string,
  type: string,
  signal: AbortSignal,
): Promise<string[]> {
  const answer = await resolver.query(name, type as RecordType, signal)
  if (answer.status === 'FAILED')
    throw coded(answer.failure === 'BADNAME' ? 'EBADNAME' : `E${answer.failure}`)
  if (answer.status === 'NXDOMAIN') throw coded('ENOTFOUND')
  if (answer.records.length === 0) throw coded('ENODATA')
  // The library's types know lists of text only.
  return valuesOf(answer, type) as string[]
}

function valuesOf(answer: DnsAnswer, type: string): unknown[] {
  if (type === 'TXT') return dataOf(answer, 'TXT').map((data) => [decodeTxt(data)])
  if (type === 'MX') {
    return dataOf(answer, 'MX').map(({ exchange, preference }) => ({
      exchange,
      priority: preference ?? 0,
    }))
  }
  return answer.status === 'FAILED'
    ? []
    : answer.records.flatMap((record) => ('data' in record ? [record.data] : []))
}

function coded(code: string): Error {
  return Object.assign(new Error(`DNS query failed: ${code}`), { code })
}
