import type { DnsResult } from '../../../src/diagnostics/shapes.ts'
import { Facts, Values } from '../ui/lists/facts.tsx'
import type { CheckKind } from './kind.ts'
import { dnsVerdict } from './verdict.ts'
import { Warnings } from './warnings.tsx'

export const dnsKind: CheckKind<DnsResult> = {
  name: 'dns',
  title: 'DNS records',
  path: (domain) => `/api/v1/dns-check?domain=${encodeURIComponent(domain)}`,
  verdict: dnsVerdict,
  View: ({ data }) => (
    <>
      <Warnings warnings={data.warnings} />
      {data.status === 'NOERROR' && <Records data={data} />}
    </>
  ),
}

function Records({ data }: { data: DnsResult }) {
  const rows: [keyof DnsResult, string, string[]][] = [
    ['cname', 'Alias for (CNAME)', data.cname],
    ['a', 'IPv4 (A)', data.a],
    ['aaaa', 'IPv6 (AAAA)', data.aaaa],
    ['mx', 'Mail servers (MX)', data.mx.map(({ priority, exchange }) => `${priority} ${exchange}`)],
    ['txt', 'Text (TXT)', data.txt],
    ['ns', 'Name servers (NS)', data.ns],
    ['caa', 'Issuers (CAA)', data.caa.map(({ tag, value }) => `${tag} ${value}`)],
  ]
  return (
    <Facts
      facts={rows.map(([field, name, values]) => {
        const error = data.errors[field]
        if (error !== undefined) return [name, `Not known: ${error}`]
        if (values.length > 0) return [name, <Values key={field} values={values} />]
        return [name, field === 'cname' ? null : 'None']
      })}
    />
  )
}
