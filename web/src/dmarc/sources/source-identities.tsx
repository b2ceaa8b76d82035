import { Status } from '../../ui/feedback/status.tsx'
import { Section, Muted } from '../../ui/layout/page.tsx'
import { Table } from '../../ui/lists/table.tsx'
import { counted } from '../../ui/text/format.ts'
import type { SourceDetail } from '../api.ts'
import { identities as messages, shared } from '../messages.ts'

type Identities = SourceDetail['identities']
type IdentityResult = Omit<Identities['envelopes'][number], 'domain'>

const DKIM_COLUMNS = [messages.domain, shared.messages, messages.signature, messages.alignment]
const SPF_COLUMNS = [messages.domain, shared.messages, messages.spfResult, messages.alignment]

/**
 * The domains that signed and sent a source's messages, and which of them align with the From
 * header.
 */
export function SourceIdentities({ identities }: { identities: Identities }) {
  const { from, signers, envelopes, unsigned, records, recordCount } = identities
  const headerFrom = from.map(({ domain, messages: count }) =>
    messages.headerFromCount(domain ?? '', count),
  )
  return (
    <>
      <Section
        title={messages.dkim}
        aside={unsigned > 0 && <Muted>{messages.unsigned(unsigned)}</Muted>}
      >
        {signers.length === 0 ? (
          <Muted>{messages.noSignature}</Muted>
        ) : (
          <Table caption={messages.dkim} quiet even columns={DKIM_COLUMNS}>
            {signers.map(({ domain, selector, ...result }) => (
              <tr key={`${domain} ${selector} ${result.result}`}>
                <th scope="row">
                  {domain ?? <Muted>{messages.unknown}</Muted>}
                  <small>
                    {selector === null ? messages.unknownSelector : messages.selector(selector)}
                  </small>
                </th>
                <ResultCells method="DKIM" {...result} />
              </tr>
            ))}
          </Table>
        )}
      </Section>
      <Section title={messages.spf}>
        {envelopes.length === 0 ? (
          <Muted>{messages.noEnvelope}</Muted>
        ) : (
          <Table caption={messages.spf} quiet even columns={SPF_COLUMNS}>
            {envelopes.map(({ domain, ...result }) => (
              <tr key={`${domain} ${result.result}`}>
                <th scope="row">{domain ?? <Muted>{messages.noDomain}</Muted>}</th>
                <ResultCells method="SPF" {...result} />
              </tr>
            ))}
          </Table>
        )}
        {from.length > 0 && <Muted>{messages.headerFrom(headerFrom.join(', '))}</Muted>}
        {recordCount > records && <Muted>{messages.basis(records, recordCount)}</Muted>}
      </Section>
    </>
  )
}

function ResultCells({
  method,
  messages: count,
  result,
  own,
  aligned,
}: IdentityResult & { method: 'DKIM' | 'SPF' }) {
  return (
    <>
      <td>{counted(count, shared.message)}</td>
      <td>{messages.result(method, result)}</td>
      <td>
        {aligned > 0 ? (
          <Status tone="good">{messages.aligned}</Status>
        ) : (
          <Status tone={own ? 'bad' : 'unknown'}>
            {own ? messages.notAligned : messages.otherDomain}
          </Status>
        )}
      </td>
    </>
  )
}
