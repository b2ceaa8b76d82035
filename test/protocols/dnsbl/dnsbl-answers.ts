import type { DnsAnswer, DnsFailure } from '../../../src/net/dns.ts'
import type { Blocklist } from '../../../src/protocols/dnsbl/blocklist-catalogue.ts'

const ANSWERED = {
  cnames: [],
  ttl: 60,
  isAuthenticated: false,
  isAuthoritative: false,
  server: '127.0.0.1:53',
  ms: 1,
}

export function listOf(fields: Partial<Blocklist> = {}): Blocklist {
  const defaults = {
    name: 'A List',
    zone: 'bl.example',
    category: 'major',
    enabled: true,
    alert: false,
    access: 'open',
    ipv6: false,
    scope: 'ip',
    includes: [],
    codes: {},
    notListedCodes: {},
    refusalCodes: {},
    strictCodes: false,
    test: {},
    delisting: { method: 'none' },
  } as const
  return { ...defaults, includes: [], ...fields }
}

export function answered(...codes: string[]): DnsAnswer {
  const records = codes.map((data) => ({
    name: 'x.bl.example',
    type: 'A' as const,
    class: 'IN' as const,
    ttl: 60,
    data,
  }))
  return { ...ANSWERED, status: 'NOERROR', records }
}

export function texts(...data: (string | Buffer[])[]): DnsAnswer {
  const records = data.map((text) => ({
    name: 'x.bl.example',
    type: 'TXT' as const,
    class: 'IN' as const,
    ttl: 60,
    data: Array.isArray(text) ? text : [Buffer.from(text)],
  }))
  return { ...ANSWERED, status: 'NOERROR', records }
}

export const nxdomain: DnsAnswer = {
  ...ANSWERED,
  status: 'NXDOMAIN',
  records: [],
}

export function failed(failure: DnsFailure): DnsAnswer {
  return { status: 'FAILED', failure, server: null, ms: 1 }
}
