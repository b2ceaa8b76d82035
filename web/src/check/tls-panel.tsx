import type { TlsResult } from '../../../src/diagnostics/shapes.ts'
import { Facts, Values } from '../ui/lists/facts.tsx'
import { DateText } from '../ui/text/date-text.tsx'
import type { CheckKind } from './kind.ts'
import { tlsVerdict } from './verdict.ts'
import { Warnings } from './warnings.tsx'

export const tlsKind: CheckKind<TlsResult> = {
  name: 'ssl',
  title: 'Certificate',
  path: (domain) => `/api/v1/ssl-check?domain=${encodeURIComponent(domain)}`,
  verdict: tlsVerdict,
  View: ({ data }) => (
    <>
      <Warnings warnings={data.warnings} />
      <Facts facts={factsOf(data)} />
    </>
  ),
}

function factsOf(data: TlsResult): Parameters<typeof Facts>[0]['facts'] {
  const { issuer, keyType, keyBits } = data
  return [
    ['Issued by', [issuer.O, issuer.CN].filter(Boolean).join(', ')],
    ['Valid until', <DateText key="to" at={data.validTo} />],
    ['Valid from', <DateText key="from" at={data.validFrom} />],
    ['For', <Values key="names" values={data.subjectAltNames} />],
    ['Connection', `${data.protocol}, ${data.cipher.standardName}`],
    ['Key', keyType && [keyType.toUpperCase(), keyBits && `${keyBits} bits`].filter(Boolean).join(', ')],
    ['Server', `${data.address}, port ${data.port}`],
  ]
}
