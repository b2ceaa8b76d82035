import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DnsFailure } from '../../src/net/dns.ts'
import type { Records } from '../servers/dns-records.ts'
import { startTlsServer } from '../servers/tls.ts'
import {
  checkDane,
  HOST,
  issue,
  leaf,
  opensslVerifies,
  recordOf,
  SMTP,
  startChainServers,
  stateOf,
  type ChainName,
  type ChainServers,
  type Of,
} from './dane-chains.ts'

let servers: ChainServers
beforeAll(async () => void (servers = await startChainServers({ isLimited: true })))
afterAll(() => servers.close())

type Row = {
  chain: ChainName
  /** `2 1 1 root`: parts of the record, and the certificate that it is of. */
  records: string[]
  /** Where the result differs from OpenSSL’s: the rule, and the state. */
  differs?: { rule: string; state: string }
}

const grid = (usages: number[], types: number[], of: Of[], chains: ChainName[]): Row[] =>
  chains.flatMap((chain) =>
    usages.flatMap((usage) =>
      [0, 1].flatMap((selector) =>
        types.flatMap((type) =>
          of.map((each) => ({ chain, records: [`${usage} ${selector} ${type} ${each}`] })),
        ),
      ),
    ),
  )

/** A key whose certificate is not sent: OpenSSL accepts it, other senders need not. */
const RELYING_ON_A_KEY = [
  'intermediate 2 1 0 root',
  'alone 2 1 0 issuer',
  'foreign without root 2 1 0 stranger',
  'self-signed 2 1 0 leaf',
]
const relying = (row: Row): Row =>
  RELYING_ON_A_KEY.includes(`${row.chain} ${row.records[0]}`)
    ? { ...row, differs: { rule: 'RFC 7671 5.2.3', state: 'warning' } }
    : row

/** Chains with an intermediate certificate that permits something and not another. */
const LIMITED: ChainName[] = [
  'name permitted',
  'name not permitted',
  'name excluded',
  'name not excluded',
  'address permitted',
  'address not permitted',
  'mailbox not permitted',
  'URI excluded',
  'common name not permitted',
  'organization permitted',
  'organization not permitted',
  'organization excluded',
  'unknown critical extension',
]

const TABLE: Row[] = [
  ...grid([3], [0, 1, 2], ['leaf', 'issuer'], ['intermediate']),
  ...grid([2], [0, 1], ['leaf', 'issuer', 'root'], ['intermediate', 'root']).map(relying),
  ...grid([2], [0], ['leaf', 'issuer', 'root'], ['alone']).map(relying),
  ...grid([2, 3], [1], ['leaf'], ['self-signed', 'expired leaf', 'other host', 'for clients']),
  ...grid([2], [0], ['leaf'], ['self-signed']).map(relying),
  ...grid([2], [1], ['issuer'], ['expired leaf', 'future leaf', 'other host', 'wildcard']),
  ...grid([2], [1], ['issuer'], ['common name', 'for clients']),
  ...grid([2], [1], ['issuer'], ['partial wildcard']).map((row) => ({
    ...row,
    // s_client permits them; senders do not.
    differs: { rule: 'RFC 7672 3.2.3', state: 'bad' },
  })),
  ...grid([2], [1], ['issuer', 'root'], ['expired intermediate', 'no authority']),
  ...grid([2], [1], ['root'], ['disordered']),
  ...grid([2], [0, 1], ['issuer'], ['expired root']),
  ...grid([2], [1, 2], ['issuer'], ['issuer for clients', 'foreign', 'foreign without root']),
  ...grid([2], [1], ['issuer', 'root'], ['path too long', 'path long enough']),
  ...grid([2], [1], ['issuer'], LIMITED),
  ...grid(
    [2],
    [1],
    ['root'],
    ['name permitted', 'name not permitted', 'unknown critical extension'],
  ),
  ...grid([3], [1], ['leaf'], ['path too long', 'name not permitted']),
  ...grid([2], [0, 1], ['stranger'], ['foreign', 'foreign without root', 'intermediate']).map(
    relying,
  ),
  ...[
    ['3 1 1 leaf', '3 1 2 issuer'],
    ['3 1 1 issuer', '3 1 2 leaf'],
    ['3 0 1 leaf', '3 1 2 issuer'],
    ['3 1 1 leaf', '3 1 2 leaf'],
    ['3 1 1 leaf', '3 1 2 issuer', '3 1 2 leaf'],
    ['3 1 0 issuer', '3 1 1 leaf'],
    ['2 1 1 issuer', '2 1 2 root'],
    ['3 1 1 issuer', '2 1 1 issuer'],
    ['3 1 1 leaf', '2 1 1 leaf'],
  ].map((records): Row => ({ chain: 'intermediate', records })),
]

async function check({ chain, records }: Row) {
  const texts = records.map((record) => {
    const parts = record.split(' ')
    return recordOf(parts.slice(0, 3).join(' '), parts[3] as Of, chain)
  })
  const port = servers.ports[chain]
  const [line, isVerified] = await Promise.all([
    checkDane({
      port,
      records: {
        'dane.test MX': [`10 ${HOST}`],
        [`${HOST} A`]: ['127.0.0.1'],
        [`_25._tcp.${HOST} TLSA`]: texts,
      },
    }),
    opensslVerifies(port, texts),
  ])
  return { state: stateOf(line), openssl: isVerified ? 'good' : 'bad', summary: line.summary }
}

describe('DANE beside openssl s_client', { concurrent: true }, () => {
  it.each(TABLE)('$chain, $records', async (row) => {
    const { state, openssl, summary } = await check(row)
    expect([state, summary]).toEqual([row.differs?.state ?? openssl, summary])
  })
})

const MATCHING = recordOf('3 1 1', 'leaf', 'intermediate')
const OTHER = recordOf('3 1 1', 'root', 'intermediate')
const ADDRESS = '127.0.0.1'
const TARGET = 'mx.other.test'
const DIRECT = { 'dane.test MX': [`10 ${HOST}`], [`${HOST} A`]: [ADDRESS] }
const ALIAS = {
  'dane.test MX': [`10 ${HOST}`],
  [`${HOST} CNAME`]: [TARGET],
  [`${TARGET} A`]: [ADDRESS],
}
const tlsa = (host: string, record = MATCHING) => ({ [`_25._tcp.${host} TLSA`]: [record] })

type DnsRow = [
  title: string,
  rule: string,
  state: string,
  records: Records,
  failures?: Record<string, DnsFailure>,
  /** Zones that are not signed; `all`: the resolver does not validate. */
  unsigned?: string[],
]

// prettier-ignore
const DNS_ROWS: DnsRow[] = [
  ['all secure, matching', '2.2', 'good', { ...DIRECT, ...tlsa(HOST) }],
  ['all secure, not matching', '2.2', 'bad', { ...DIRECT, ...tlsa(HOST, OTHER) }],
  ['no records', '2.2', 'unused', DIRECT],
  ['an MX record that is not secure', '2.2.1', 'good', { 'plain.test MX': [`10 ${HOST}`], ...DIRECT, ...tlsa(HOST) }, {}, ['plain.test']],
  ['a wrong record behind an MX record that is not secure', '2.2.1', 'bad', { 'plain.test MX': [`10 ${HOST}`], ...DIRECT, ...tlsa(HOST, OTHER) }, {}, ['plain.test']],
  ['an unsigned host', '2.2.2', 'warning', { ...DIRECT, ...tlsa(HOST) }, {}, ['dane.test']],
  ['an unsigned host, not matching', '2.2.2', 'warning', { ...DIRECT, ...tlsa(HOST, OTHER) }, {}, ['dane.test']],
  ...(['SERVFAIL', 'TIMEOUT', 'REFUSED', 'OTHER'] as const).flatMap((failure): DnsRow[] => [
    [`${failure} of TLSA at an unsigned host`, '2.2.2', 'unused', DIRECT, { [`_25._tcp.${HOST} TLSA`]: failure }, ['dane.test']],
    [`${failure} of TLSA at a secure host`, '2.1.2', 'unknown', DIRECT, { [`_25._tcp.${HOST} TLSA`]: failure }],
    [`${failure} of AAAA, matching`, '2.1.2', 'good', { ...DIRECT, ...tlsa(HOST) }, { [`${HOST} AAAA`]: failure }],
    [`${failure} of AAAA, not matching`, '2.1.2', 'bad', { ...DIRECT, ...tlsa(HOST, OTHER) }, { [`${HOST} AAAA`]: failure }],
    [`${failure} of A and AAAA`, '2.1.2', 'unknown', { ...DIRECT, ...tlsa(HOST) }, { [`${HOST} A`]: failure, [`${HOST} AAAA`]: failure }],
    [`${failure} of A and AAAA, no records`, '2.1.2', 'unused', DIRECT, { [`${HOST} A`]: failure, [`${HOST} AAAA`]: failure }],
  ]),
  ['SERVFAIL of AAAA at an unsigned host', '2.2.2', 'warning', { ...DIRECT, ...tlsa(HOST) }, { [`${HOST} AAAA`]: 'SERVFAIL' }, ['dane.test']],
  ['a secure alias, record at its target', '2.2.3', 'good', { ...ALIAS, ...tlsa(TARGET) }],
  ['a secure alias, wrong record at its target', '2.2.3', 'bad', { ...ALIAS, ...tlsa(TARGET, OTHER) }],
  ['a secure alias, record at the alias', '2.2.3', 'good', { ...ALIAS, ...tlsa(HOST) }],
  ['a secure alias, wrong record at the alias', '2.2.3', 'bad', { ...ALIAS, ...tlsa(HOST, OTHER) }],
  ['a secure alias, the record at its target counts', '2.2.3', 'good', { ...ALIAS, ...tlsa(TARGET), ...tlsa(HOST, OTHER) }],
  ['a secure alias, the wrong record at its target counts', '2.2.3', 'bad', { ...ALIAS, ...tlsa(TARGET, OTHER), ...tlsa(HOST) }],
  ['a secure alias, SERVFAIL of TLSA at its target', '2.1.2', 'unknown', { ...ALIAS, ...tlsa(HOST) }, { [`_25._tcp.${TARGET} TLSA`]: 'SERVFAIL' }],
  ['a secure alias, TLSA at its target in an unsigned zone', '2.2.3', 'good', { ...ALIAS, ...tlsa(TARGET, OTHER), ...tlsa(HOST) }, {}, [`_25._tcp.${TARGET}`]],
  ['a secure alias into an unsigned zone', '2.2.2', 'good', { ...ALIAS, ...tlsa(HOST) }, {}, ['other.test']],
  ['a secure alias into an unsigned zone, not matching', '2.2.2', 'bad', { ...ALIAS, ...tlsa(HOST, OTHER) }, {}, ['other.test']],
  ['a secure alias into an unsigned zone, record at its target only', '2.2.2', 'unused', { ...ALIAS, ...tlsa(TARGET) }, {}, ['other.test']],
  ['a secure alias into an unsigned zone, SERVFAIL of TLSA', '2.1.2', 'unknown', ALIAS, { [`_25._tcp.${HOST} TLSA`]: 'SERVFAIL' }, ['other.test']],
  ['a secure alias into an unsigned zone, SERVFAIL of CNAME', '2.1.2', 'unknown', { ...ALIAS, ...tlsa(HOST) }, { [`${HOST} CNAME`]: 'SERVFAIL' }, ['other.test']],
  ['two aliases, the second into an unsigned zone', '2.2.2', 'good', { ...ALIAS, [`${TARGET} CNAME`]: ['mx.plain.test'], 'mx.plain.test A': [ADDRESS], [`${TARGET} A`]: [], ...tlsa(HOST), ...tlsa(TARGET, OTHER) }, {}, ['plain.test']],
  ['an unsigned alias into a signed zone', '2.2.2', 'warning', { ...ALIAS, ...tlsa(TARGET) }, {}, ['dane.test']],
  ['an unsigned alias into a signed zone, not matching', '2.2.2', 'warning', { ...ALIAS, ...tlsa(TARGET, OTHER) }, {}, ['dane.test']],
  ['TLSA as a secure alias', '2.2', 'good', { ...DIRECT, [`_25._tcp.${HOST} CNAME`]: ['tlsa.other.test'], 'tlsa.other.test TLSA': [MATCHING] }],
  ['TLSA as an alias into an unsigned zone', '2.2', 'warning', { ...DIRECT, [`_25._tcp.${HOST} CNAME`]: ['tlsa.other.test'], 'tlsa.other.test TLSA': [OTHER] }, {}, ['other.test']],
  ['a resolver that does not validate', '2.1.1', 'unknown', { ...DIRECT, ...tlsa(HOST) }, {}, ['all']],
  ['a resolver that does not validate, not matching', '2.1.1', 'warning', { ...DIRECT, ...tlsa(HOST, OTHER) }, {}, ['all']],
  ['a PKIX record alone', '3.1.3', 'warning', { ...DIRECT, ...tlsa(HOST, recordOf('1 1 1', 'leaf', 'intermediate')) }],
]

describe('DANE and the name in SNI', () => {
  it('is the name of the TLSA records (RFC 7672, 8.1)', async () => {
    const plain = issue({ issuer: undefined })
    const byName = { [TARGET]: leaf }
    const server = await startTlsServer({ ...plain, script: SMTP, byName })
    const line = await checkDane({ port: server.port, records: { ...ALIAS, ...tlsa(TARGET) } })
    await server.close()
    expect([stateOf(line), line.summary]).toEqual(['good', line.summary])
  })
})

describe('DANE and the states of DNSSEC', () => {
  it.each(DNS_ROWS)('%s (RFC 7672 %s): %s', async (...row) => {
    const [, , state, records, failures, unsigned = []] = row
    const isSigned = (name: string) =>
      !unsigned.some((zone) => zone === 'all' || name === zone || name.endsWith(`.${zone}`))
    const domain = 'plain.test MX' in records ? 'plain.test' : undefined
    const port = servers.ports.intermediate
    const line = await checkDane({ records, failures, isSigned, domain, port })
    expect([stateOf(line), line.summary]).toEqual([state, line.summary])
  })
})
