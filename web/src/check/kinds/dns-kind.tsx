import type { DnsResult } from '../../../../src/diagnostics/shapes.ts'
import { Facts, Values } from '../../ui/lists/facts.tsx'
import type { CheckKind } from './check-kind.ts'
import { dns as messages } from '../messages.ts'
import { dnsVerdict } from './verdict.ts'
import { Warnings } from '../warnings.tsx'

export const dnsKind: CheckKind<DnsResult> = {
  name: 'dns',
  title: messages.title,
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
  const rows: [keyof typeof messages.fields, string[]][] = [
    ['cname', data.cname],
    ['a', data.a],
    ['aaaa', data.aaaa],
    ['mx', data.mx.map(({ priority, exchange }) => `${priority} ${exchange}`)],
    ['txt', data.txt],
    ['ns', data.ns],
    ['caa', data.caa.map(({ tag, value }) => `${tag} ${value}`)],
  ]
  return (
    <Facts
      facts={rows.map(([field, values]) => {
        const name = messages.fields[field]
        const error = data.errors[field]
        if (error !== undefined) return [name, messages.unknown(error)]
        if (values.length > 0) return [name, <Values key={field} values={values} />]
        return [name, field === 'cname' ? null : messages.none]
      })}
    />
  )
}
