import { Section, Muted } from '../../ui/layout/page.tsx'
import { Status } from '../../ui/feedback/status.tsx'
import { Table } from '../../ui/lists/table.tsx'
import { counted, numberText } from '../../ui/text/format.ts'
import type { SourceDetail } from '../api.ts'

type Identities = SourceDetail['identities']
type Fared = Omit<Identities['envelopes'][number], 'domain'>

/** In whose names a source sent, and which of them speak for the domain in the From line. */
export function SourceIdentities({ identities }: { identities: Identities }) {
  const { from, signers, envelopes, unsigned, records, recordCount } = identities
  return (
    <>
      <Section
        title="DKIM: who signed"
        aside={unsigned > 0 && <Muted>{counted(unsigned, 'message')} not signed</Muted>}
      >
        {signers.length === 0 ? (
          <Muted>Nobody: the mail has no signature.</Muted>
        ) : (
          <Table caption="Who signed" quiet even columns={['Domain', 'Messages', 'Signature', 'Alignment']}>
            {signers.map(({ domain, selector, ...fared }) => (
              <tr key={`${domain} ${selector} ${fared.result}`}>
                <th scope="row">
                  {domain ?? <Muted>nobody</Muted>}
                  <small>{selector === null ? 'selector not told' : `selector ${selector}`}</small>
                </th>
                <FaredCells by="DKIM" {...fared} />
              </tr>
            ))}
          </Table>
        )}
      </Section>
      <Section title="SPF: where bounces go">
        {envelopes.length === 0 ? (
          <Muted>The reports do not tell.</Muted>
        ) : (
          <Table caption="Where bounces go" quiet even columns={['Domain', 'Messages', 'SPF', 'Alignment']}>
            {envelopes.map(({ domain, ...fared }) => (
              <tr key={`${domain} ${fared.result}`}>
                <th scope="row">{domain ?? <Muted>nowhere</Muted>}</th>
                <FaredCells by="SPF" {...fared} />
              </tr>
            ))}
          </Table>
        )}
        {from.length > 0 && <Muted>In the From line: {from.map(fromText).join(', ')}.</Muted>}
        {recordCount > records && (
          <Muted>
            Taken from the newest {numberText(records)} of {counted(recordCount, 'record')}.
          </Muted>
        )}
      </Section>
    </>
  )
}

function FaredCells({ by, messages, result, own, aligned }: Fared & { by: 'DKIM' | 'SPF' }) {
  return (
    <>
      <td>{counted(messages, 'message')}</td>
      <td>
        {by} {result}
      </td>
      <td>
        {aligned > 0 ? (
          <Status tone="good">Aligned</Status>
        ) : (
          <Status tone={own ? 'bad' : 'unknown'}>{own ? 'Not aligned' : 'Of another domain'}</Status>
        )}
      </td>
    </>
  )
}

function fromText({ domain, messages }: Identities['from'][number]): string {
  return `${domain} (${counted(messages, 'message')})`
}
