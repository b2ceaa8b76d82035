import type { TlsResult } from '../../../src/diagnostics/shapes.ts'
import { Facts, Values } from '../ui/facts.tsx'
import { Moment } from '../ui/moment.tsx'
import { CheckPanel } from './panel.tsx'
import { tlsVerdict } from './verdict.ts'
import { Warnings } from './warnings.tsx'

export function TlsPanel({ domain }: { domain: string }) {
  return (
    <CheckPanel<typeof TlsResult>
      title="Certificate"
      path={`/api/v1/ssl-check?domain=${encodeURIComponent(domain)}`}
      verdict={tlsVerdict}
    >
      {(data) => (
        <>
          <Warnings warnings={data.warnings} />
          <Facts facts={factsOf(data)} />
        </>
      )}
    </CheckPanel>
  )
}

function factsOf(data: TlsResult): Parameters<typeof Facts>[0]['facts'] {
  const { issuer, keyType, keyBits } = data
  return [
    ['Issued by', [issuer.O, issuer.CN].filter(Boolean).join(', ')],
    ['Valid until', <Moment key="to" at={data.validTo} />],
    ['Valid from', <Moment key="from" at={data.validFrom} />],
    ['For', <Values key="names" values={data.subjectAltNames} />],
    ['Connection', `${data.protocol}, ${data.cipher.standardName}`],
    ['Key', keyType && [keyType.toUpperCase(), keyBits && `${keyBits} bits`].filter(Boolean).join(', ')],
    ['Server', `${data.address}, port ${data.port}`],
  ]
}
