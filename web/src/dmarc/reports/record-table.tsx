import type { ReactNode } from 'react'
import { Status } from '../../ui/feedback/status.tsx'
import { Muted } from '../../ui/layout/page.tsx'
import { Table } from '../../ui/lists/table.tsx'
import type { ReportRecord } from '../api.ts'
import { records as messages, shared } from '../messages.ts'

type RecordTableProps<T> = {
  records: T[]
  /** Title of the first column. */
  column: string
  lead: (record: T) => ReactNode
}

/** One row for each record: its result, the checks behind it and the receiver's action. */
export function RecordTable<T extends ReportRecord>({
  records,
  column,
  lead,
}: RecordTableProps<T>) {
  const columns = [
    column,
    messages.from,
    shared.result,
    messages.authentication,
    messages.disposition,
  ]
  return (
    <Table caption={messages.title} quiet columns={columns}>
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
        {headerFrom ?? <Muted>{messages.missing}</Muted>}
        {envelopeFrom && envelopeFrom !== headerFrom && (
          <small>{messages.envelopeFrom(envelopeFrom)}</small>
        )}
      </td>
      <td>
        {outside ? (
          <Status tone="unknown">{messages.outside}</Status>
        ) : (
          <Status tone={result === 'pass' ? 'good' : 'bad'}>
            {result === 'pass' ? shared.passed : shared.failed}
          </Status>
        )}
      </td>
      <td>
        <AuthenticationResults record={record} />
      </td>
      <td>
        {messages.dispositions[policyEvaluated.disposition ?? ''] ?? policyEvaluated.disposition}
        {policyEvaluated.reasons.map(({ type, comment }, index) => (
          <small key={index}>{[type, comment].filter(Boolean).join(': ')}</small>
        ))}
      </td>
    </>
  )
}

/** The receiver's DKIM and SPF results, and whether each aligns with the From header. */
function AuthenticationResults({
  record: { policyEvaluated, authResults },
}: {
  record: ReportRecord
}) {
  const alignment = (result: string | null) =>
    result === 'pass' ? messages.aligned : messages.notAligned
  const signatures = authResults.dkim.map(({ domain, selector, result }) =>
    messages.signature(domain, selector, result),
  )
  return (
    <>
      <small>
        {messages.method('DKIM', alignment(policyEvaluated.dkim))}
        {signatures.join('')}
      </small>
      <small>
        {messages.method('SPF', alignment(policyEvaluated.spf))}
        {authResults.spf.map(({ domain, result }) => messages.spf(domain, result)).join('')}
      </small>
    </>
  )
}
