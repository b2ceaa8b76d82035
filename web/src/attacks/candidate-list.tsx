import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { agoCell } from '../ui/lists/ago-cell.tsx'
import type { Column } from '../ui/lists/column.ts'
import { DataTable } from '../ui/lists/data-table.tsx'
import type { RowAction } from '../ui/lists/row-action.ts'
import { counted } from '../ui/text/format.ts'
import { Muted } from '../ui/layout/page.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { attacks, candidatesQuery, type Candidates } from './api.ts'
import { candidates as messages } from './messages.ts'
import { useLabels } from './use-labels.ts'

type Candidate = Candidates['candidates'][number]

/** Addresses with enough reports for the list that only an administrator may put there. */
export function CandidateList() {
  const [page, setPage] = useState(1)
  const { data, error } = useQuery(candidatesQuery(page))
  const labelOf = useLabels()
  const decisions = useDecisions()
  return (
    <>
      <p>
        <Muted>{tableSentence(data?.networkTable)}</Muted>
      </p>
      <LoadingOrError there={data} error={error} lines={3}>
        {messages.loading}
      </LoadingOrError>
      {data?.candidates.length === 0 && <Muted>{messages.empty}</Muted>}
      {data && data.candidates.length > 0 && (
        <DataTable
          caption={messages.title}
          columns={columnsOf(labelOf)}
          rows={data.candidates}
          rowId={addressOf}
          nameOf={addressOf}
          count={(rows) => counted(rows, 'address', 'addresses')}
          actions={decisions}
          csvName="blocklist-candidates"
          paged={{
            ...data.pagination,
            onGo: setPage,
            sorts: [],
            loadPage: async (number) => (await attacks.candidates(number)).candidates,
          }}
        />
      )}
    </>
  )
}

function tableSentence(table: Candidates['networkTable'] | undefined): string {
  if (table?.source === 'none') return `${messages.rule} ${messages.noTable}`
  return table?.date ? `${messages.rule} ${messages.tableDate(table.date)}` : messages.rule
}

const addressOf = ({ address }: Candidate) => address
/** An address without the length of its network. */
const hostOf = ({ address }: Candidate) => address.replace(/\/\d+$/, '')

function useDecisions(): RowAction<Candidate>[] {
  const queries = useQueryClient()
  const onDone = () => queries.invalidateQueries({ queryKey: ['attacks'] })
  return [
    {
      label: messages.list,
      confirm: { title: messages.listTitle, text: messages.listText, keep: messages.wait },
      send: (candidate) => attacks.decideCandidate(hostOf(candidate), true),
      onDone,
    },
    {
      label: messages.discard,
      kind: 'danger',
      confirm: { title: messages.discardTitle, text: messages.discardText, keep: messages.wait },
      send: (candidate) => attacks.decideCandidate(hostOf(candidate), false),
      onDone,
    },
  ]
}

function columnsOf(labelOf: (service: string) => string): Column<Candidate>[] {
  const [address, reason, reports, services, last] = messages.columns
  return [
    {
      key: 'address',
      title: address,
      cell: (candidate) => (
        <Link to="/addresses/$ip" params={{ ip: hostOf(candidate) }}>
          {candidate.address}
        </Link>
      ),
      csv: addressOf,
    },
    {
      key: 'reason',
      title: reason,
      cell: (candidate) => messages.reasons[candidate.reason],
      csv: (candidate) => messages.reasons[candidate.reason],
    },
    {
      key: 'reports',
      title: reports,
      cell: ({ reports: count, networks, operators }) =>
        messages.sources(count, networks, operators),
      csv: ({ reports: count }) => count,
    },
    { key: 'networks', title: messages.networks, csv: ({ networks }) => networks },
    { key: 'operators', title: messages.operators, csv: ({ operators }) => operators },
    {
      key: 'services',
      title: services,
      cell: ({ services: attacked }) => attacked.map(labelOf).join(', '),
      csv: ({ services: attacked }) => attacked.map(labelOf).join(', '),
    },
    {
      key: 'lastReportedAt',
      title: last,
      ...agoCell('lastReportedAt'),
    },
  ]
}
