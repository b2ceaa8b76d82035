import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Ago } from '../ui/text/ago.tsx'
import { ConfirmButton } from '../ui/actions/confirm.tsx'
import { List, ListItem } from '../ui/lists/list.tsx'
import { Row, Muted } from '../ui/layout/page.tsx'
import { PaginationLinks } from '../ui/navigation/pagination.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { attacks, candidatesQuery, type Candidates } from './api.ts'
import { candidates as messages } from './messages.ts'
import { useLabels } from './use-labels.ts'

type Candidate = Candidates['candidates'][number]

/** Addresses with enough reports for the list that only an administrator may put there. */
export function CandidateList() {
  const [page, setPage] = useState(1)
  const { data, error } = useQuery(candidatesQuery(page))
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
        <List>
          {data.candidates.map((candidate) => (
            <CandidateItem key={candidate.address} candidate={candidate} />
          ))}
        </List>
      )}
      {data && (
        <PaginationLinks page={page} totalPages={data.pagination.totalPages} onGo={setPage} />
      )}
    </>
  )
}

function tableSentence(table: Candidates['networkTable'] | undefined): string {
  if (table?.source === 'none') return `${messages.rule} ${messages.noTable}`
  return table?.date ? `${messages.rule} ${messages.tableDate(table.date)}` : messages.rule
}

function CandidateItem({ candidate }: { candidate: Candidate }) {
  const { address, reason, reports, networks, operators, services, lastReportedAt } = candidate
  const labelOf = useLabels()
  return (
    <ListItem
      title={
        <Link to="/attacks" search={{ ip: address.replace(/\/\d+$/, '') }}>
          {address}
        </Link>
      }
      action={<Decide address={address} />}
    >
      {messages.reasons[reason]}
      <br />
      {messages.sources(reports, networks, operators)} · {services.map(labelOf).join(', ')} ·{' '}
      <Ago at={lastReportedAt} />
    </ListItem>
  )
}

function Decide({ address }: { address: string }) {
  const queries = useQueryClient()

  async function decide(list: boolean): Promise<void> {
    await attacks.decideCandidate(address.replace(/\/\d+$/, ''), list)
    await queries.invalidateQueries({ queryKey: ['attacks'] })
  }

  return (
    <Row>
      <ConfirmButton
        label={messages.list}
        about={address}
        title={messages.listTitle(address)}
        kind="plain"
        keep={messages.wait}
        onConfirm={() => decide(true)}
      >
        {messages.listText}
      </ConfirmButton>
      <ConfirmButton
        label={messages.discard}
        about={address}
        title={messages.discardTitle(address)}
        keep={messages.wait}
        onConfirm={() => decide(false)}
      >
        {messages.discardText}
      </ConfirmButton>
    </Row>
  )
}
