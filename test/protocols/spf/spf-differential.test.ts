import * as fc from 'fast-check'
import { spf as verifySpf } from 'mailauth/lib/spf/index.js'
import { describe, expect, it } from 'vitest'
import type { DnsFailure, RecordType } from '../../../src/net/dns.ts'
import { createDnsQueries, decodeTxt } from '../../../src/protocols/dns-queries.ts'
import { evaluateSpf } from '../../../src/protocols/spf/evaluate-spf.ts'
import { mapResolver } from '../../resolver.ts'
import type { Records } from '../../servers/dns-records.ts'

const ZONE: Records = {
  'example.com A': ['192.0.2.50'],
  'example.com MX': ['10 h2.example'],
  'h1.example A': ['192.0.2.1'],
  'h1.example AAAA': ['2001:db8::1'],
  'h2.example A': ['198.51.100.9'],
  'm.example MX': ['10 h1.example', '20 h2.example'],
  'pass.example TXT': ['v=spf1 +all'],
  'fail.example TXT': ['v=spf1 -all'],
  'soft.example TXT': ['v=spf1 a:h2.example ~all'],
  'text.example TXT': ['hello'],
  'loop.example TXT': ['v=spf1 include:loop.example -all'],
  '1.2.0.192.in-addr.arpa PTR': ['h1.example'],
  'x.192.0.2.1.example A': ['127.0.0.1'],
  'b.a.user.example A': ['127.0.0.2'],
  'com.example.d.example A': ['127.0.0.2'],
}
const FAILURES: Record<string, DnsFailure> = { 'lame.example *': 'SERVFAIL' }
const CLIENT = { sender: 'a-b@example.com', helo: 'h1.example' }

const LABELS = ['h1', 'h2', 'm', 'pass', 'fail', 'soft', 'text', 'loop', 'gone', 'lame']
const MACROS = [
  '%{d}',
  '%{h}',
  'x.%{i}.example',
  '%{l2r-}.user.example',
  '%{dr}.d.example',
  '%{d1}.example',
  '192.0.2.1',
]
const host = fc.constantFrom(...LABELS.map((label) => `${label}.example`), ...MACROS)
const qualifier = fc.constantFrom('', '+', '-', '~', '?')
const cidr = fc.constantFrom('', '', '', '/24', '/0', '//64', '/24//64', '/33')
const term = fc.oneof(
  fc
    .tuple(qualifier, fc.constantFrom('a', 'mx'), fc.option(host, { nil: '' }), cidr)
    .map(([sign, name, spec, length]) => {
      return `${sign}${name}${spec && `:${spec}`}${length}`
    }),
  fc
    .tuple(qualifier, fc.constantFrom('include', 'exists', 'ptr'), host)
    .map(([sign, name, spec]) => `${sign}${name}:${spec}`),
  fc
    .tuple(
      qualifier,
      fc.constantFrom(
        'ip4:192.0.2.1',
        'ip4:192.0.2.0/24',
        'ip6:2001:db8::/32',
        'ip6:::/0',
        'ip4:0.0.0.0/0',
        'all',
      ),
    )
    .map((parts) => parts.join('')),
  fc.constantFrom(
    'x=y',
    'include=pass.example',
    'exp=h1.example',
    'redirect=pass.example',
    'redirect=gone.example',
  ),
)
const record = fc.array(term, { maxLength: 5 }).map((terms) => ['v=spf1', ...terms].join(' '))
const address = fc.constantFrom('192.0.2.1', '192.0.2.77', '203.0.113.5', '2001:db8::1')

/** The result of the library, with a resolver that has the interface of `node:dns`. */
async function askLibrary(records: Records, ip: string): Promise<string> {
  const dns = mapResolver(records, FAILURES)
  const { status } = await verifySpf({
    ...CLIENT,
    ip,
    mta: 'mx.example.net',
    resolver: async (name, type) => {
      const answer = await dns.query(name, type as RecordType)
      const code =
        answer.status === 'FAILED'
          ? `E${answer.failure}`
          : answer.status === 'NXDOMAIN'
            ? 'ENOTFOUND'
            : 'ENODATA'
      if (answer.status !== 'NOERROR' || answer.records.length === 0)
        throw Object.assign(new Error(code), { code })
      return answer.records.map((found) => {
        if (found.type === 'TXT') return [decodeTxt(found.data)]
        return found.type === 'MX'
          ? { exchange: found.data.exchange, priority: found.data.preference }
          : 'data' in found && found.data
      }) as string[]
    },
  })
  return status.result
}

describe('the evaluation of SPF', () => {
  it('agrees with an independent implementation on thousands of records, except where RFC 7208 decides', async () => {
    let compared = 0
    await fc.assert(
      fc.asyncProperty(record, address, async (text, ip) => {
        const records = { ...ZONE, 'example.com TXT': [text] }
        const questions = createDnsQueries(
          mapResolver(records, FAILURES),
          new AbortController().signal,
        )
        const { result, reason } = await evaluateSpf({ ...CLIENT, ip }, questions)
        // 4.6: an error anywhere is a permerror, whatever stands before it. The library reads no
        // further than it must.
        if (reason?.includes('has an error at character')) return
        // 4.6.4: no AAAA records is a look-up that finds nothing, even of a name that has A
        // records.
        if (ip.includes(':') && reason?.includes('finds nothing')) return
        compared += 1
        expect(result, `${text} for ${ip}: ${reason}`).toBe(await askLibrary(records, ip))
      }),
      { numRuns: 3_000, seed: 7208 },
    )
    expect(compared).toBeGreaterThan(1_500)
  })
})
