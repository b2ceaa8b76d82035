import type { ReactNode } from 'react'
import { Muted } from '../../ui/layout/page.tsx'
import { Status } from '../../ui/feedback/status.tsx'
import { Table } from '../../ui/lists/table.tsx'
import type { ReportRecord } from '../api.ts'

type RecordTableProps<T> = {
  records: T[]
  /** What tells the records apart, in the first column. */
  column: string
  lead: (record: T) => ReactNode
}

/** What receivers saw and did, a row a record. */
export function RecordTable<T extends ReportRecord>({ records, column, lead }: RecordTableProps<T>) {
  return (
    <Table caption="What was seen" quiet columns={[column, 'From', 'Result', 'Checked', 'Then']}>
      {records.map((record, index) => (
        <tr key={index}>
          <th scope="row">{lead(record)}</th>
          <RecordCells record={record} />
        </tr>
      ))}
    </Table>
  )
}

function RecordCells({ record }: { record: ReportRecord }) {
  const { identifiers, policyEvaluated, result, outside } = record
  const { headerFrom, envelopeFrom } = identifiers
  return (
    <>
      <td>
        {headerFrom ?? <Muted>nobody</Muted>}
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
    </>
  )
}

const DONE: Record<string, string> = {
  none: 'Let through',
  pass: 'Let through',
  quarantine: 'Set aside',
  reject: 'Refused',
}

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
