import { AddressLink } from '../../addresses/address-link.tsx'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Status, type Tone } from '../../ui/feedback/status.tsx'
import { Muted, Section } from '../../ui/layout/page.tsx'
import { Table } from '../../ui/lists/table.tsx'
import { PaginationLinks } from '../../ui/navigation/pagination.tsx'
import { Ago } from '../../ui/text/ago.tsx'
import { relayedReportsQuery, type RelayedReport } from './api.ts'
import { reports as messages } from './messages.ts'

const TONES: Record<RelayedReport['state'], Tone> = {
  waiting: 'info',
  sending: 'info',
  sent: 'good',
  rejected: 'bad',
  uncertain: 'unknown',
}

/** What became of each report. @param nameOf the name of a service */
export function ReportTable({ nameOf }: { nameOf: (service: string) => string }) {
  const [page, setPage] = useState(1)
  const { data } = useQuery(relayedReportsQuery(page))
  if (!data) return null
  return (
    <Section title={messages.title}>
      {data.reports.length === 0 && <Muted>{messages.empty}</Muted>}
      {data.reports.length > 0 && (
        <Table quiet caption={messages.title} columns={[...messages.columns]}>
          {data.reports.map((report) => (
            <ReportRow key={report.id} report={report} name={nameOf(report.service)} />
          ))}
        </Table>
      )}
      <PaginationLinks page={page} totalPages={data.pagination.totalPages} onGo={setPage} />
    </Section>
  )
}

function ReportRow({ report, name }: { report: RelayedReport; name: string }) {
  const { address, services, count, state, reason, reportedAt } = report
  return (
    <tr>
      <th scope="row">
        <AddressLink address={address} />
        <small>{messages.attacked(services.join(', '), count)}</small>
      </th>
      <td>{name}</td>
      <td>
        <Status tone={TONES[state]}>{messages.states[state]}</Status>
        {reason && <small>{reason}</small>}
      </td>
      <td>
        <Ago at={reportedAt} />
      </td>
    </tr>
  )
}
