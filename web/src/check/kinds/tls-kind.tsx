import type { TlsResult } from '../../../../src/diagnostics/shapes.ts'
import { Facts, Values } from '../../ui/lists/facts.tsx'
import { DateText } from '../../ui/text/date-text.tsx'
import type { CheckKind } from './check-kind.ts'
import { certificate as messages } from '../messages.ts'
import { guessTarget } from '../guess-target.ts'
import { tlsVerdict } from './verdict.ts'
import { Warnings } from '../warnings.tsx'

export const tlsKind: CheckKind<TlsResult> = {
  name: 'ssl',
  title: messages.title,
  path(target) {
    const { name = target, port } = guessTarget(target) ?? {}
    return `/api/v1/ssl-check?domain=${encodeURIComponent(name)}${port === undefined ? '' : `&port=${port}`}`
  },
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
    [messages.issuedBy, [issuer.O, issuer.CN].filter(Boolean).join(', ')],
    [messages.validUntil, <DateText key="to" at={data.validTo} />],
    [messages.validFrom, <DateText key="from" at={data.validFrom} />],
    [messages.names, <Values key="names" values={data.subjectAltNames} />],
    [messages.connection, `${data.protocol}, ${data.cipher.standardName}`],
    [
      messages.key,
      keyType &&
        [keyType.toUpperCase(), keyBits && messages.bits(keyBits)].filter(Boolean).join(', '),
    ],
    [messages.server, messages.address(data.address, data.port)],
  ]
}
