import { Soft } from '../ui/page.tsx'
import { Status } from '../ui/status.tsx'
import { Table } from '../ui/table.tsx'
import { counted } from '../ui/words.ts'
import type { ReportRecord } from './api.ts'

/** Source by source, what a receiver saw and did. */
export function RecordTable({ records }: { records: ReportRecord[] }) {
  if (records.length === 0) return <Soft>Nothing: the report has no records.</Soft>
  return (
    <Table caption="What was seen" quiet columns={['Source', 'From', 'Result', 'Checked', 'Then']}>
      {records.map((record, index) => (
        <RecordRow key={index} record={record} />
      ))}
    </Table>
  )
}

function RecordRow({ record }: { record: ReportRecord }) {
  const { sourceIp, count, identifiers, policyEvaluated, result, outside } = record
  const { headerFrom, envelopeFrom } = identifiers
  return (
    <tr>
      <th scope="row">
        {sourceIp}
        <small>{counted(count, 'message')}</small>
      </th>
      <td>
        {headerFrom ?? <Soft>nobody</Soft>}
        {envelopeFrom && envelopeFrom !== headerFrom && <small>sent by {envelopeFrom}</small>}
      </td>
      <td>
        {outside ? (
          <Status tone="unknown">Not this domain’s</Status>
        ) : (
          <Status tone={result === 'pass' ? 'good' : 'bad'}>{result === 'pass' ? 'Passed' : 'Failed'}</Status>
        )}
      </td>
      <td>
        <Checked record={record} />
      </td>
      <td>
        {DONE[policyEvaluated.disposition ?? ''] ?? policyEvaluated.disposition}
        {policyEvaluated.reasons.map(({ type, comment }, index) => (
          <small key={index}>{[type, comment].filter(Boolean).join(': ')}</small>
        ))}
      </td>
    </tr>
  )
}

const DONE: Record<string, string> = { none: 'Let through', quarantine: 'Set aside', reject: 'Refused' }

/** What was signed and sent for whom, and whether that is the domain in the From line. */
function Checked({ record: { policyEvaluated, authResults } }: { record: ReportRecord }) {
  const aligned = (word: string | null) => (word === 'pass' ? 'aligned' : 'not aligned')
  return (
    <>
      <small>
        DKIM {aligned(policyEvaluated.dkim)}
        {authResults.dkim.map(({ domain, selector, result }) => `, ${domain} (${selector ?? '?'}): ${result}`).join('')}
      </small>
      <small>
        SPF {aligned(policyEvaluated.spf)}
        {authResults.spf.map(({ domain, result }) => `, ${domain}: ${result}`).join('')}
      </small>
    </>
  )
}
