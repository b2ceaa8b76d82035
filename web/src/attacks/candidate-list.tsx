import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Ago } from '../ui/text/ago.tsx'
import { ConfirmButton } from '../ui/actions/confirm.tsx'
import { List, ListItem } from '../ui/lists/list.tsx'
import { Row, Muted } from '../ui/layout/page.tsx'
import { Pagination } from '../ui/navigation/pagination.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { counted } from '../ui/text/format.ts'
import { attacks, candidatesQuery, type Candidates } from './api.ts'
import { useLabels } from './use-labels.ts'

type Candidate = Candidates['candidates'][number]

const REASONS: Record<Candidate['reason'], string> = {
  unknown_operators: 'We can’t tell whether the reporting networks belong to different providers.',
  appealed: 'An appeal was granted in the last 14 days, and no established network has reported it since.',
  well_known: 'Many services depend on this address, and none of your sensors has reported it.',
}

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
        Loading addresses …
      </LoadingOrError>
      {data?.candidates.length === 0 && <Muted>No address is waiting.</Muted>}
      {data && data.candidates.length > 0 && (
        <List>
          {data.candidates.map((candidate) => (
            <CandidateItem key={candidate.address} candidate={candidate} />
          ))}
        </List>
      )}
      {data && <Pagination page={page} totalPages={data.pagination.totalPages} onGo={setPage} />}
    </>
  )
}

function tableSentence(table: Candidates['networkTable'] | undefined): string {
  const rule = 'These addresses have enough reports, but the reports may come from one person with rented servers.'
  if (table?.source === 'none') return `${rule} Without a network table, every new listing waits here.`
  return table?.date ? `${rule} Providers are known as of ${table.date}.` : rule
}

function CandidateItem({ candidate }: { candidate: Candidate }) {
  const { address, reason, reports, networks, operators, services, lastReportedAt } = candidate
  const labelOf = useLabels()
  const witnesses = `${counted(networks, 'network')} of ${counted(operators, 'known provider')}`
  return (
    <ListItem
      title={
        <Link to="/attacks" search={{ ip: address.replace(/\/\d+$/, '') }}>
          {address}
        </Link>
      }
      action={<Decide address={address} />}
    >
      {REASONS[reason]}
      <br />
      {counted(reports, 'report')} from {witnesses} · {services.map(labelOf).join(', ')} · <Ago at={lastReportedAt} />
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
        label="List it"
        about={address}
        title={`List ${address}?`}
        kind="plain"
        keep="Wait"
        onConfirm={() => decide(true)}
      >
        Everyone who uses the list blocks it within minutes. It leaves seven days after the last report at the latest.
      </ConfirmButton>
      <ConfirmButton
        label="Discard the reports"
        about={address}
        title={`Discard the reports about ${address}?`}
        keep="Wait"
        onConfirm={() => decide(false)}
      >
        The evidence is deleted, and the networks that reported the address lose reputation.
      </ConfirmButton>
    </Row>
  )
}
