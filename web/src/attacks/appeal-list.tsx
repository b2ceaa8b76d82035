import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Ago } from '../ui/text/ago.tsx'
import { ConfirmButton } from '../ui/actions/confirm.tsx'
import { List, ListItem } from '../ui/lists/list.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Row, Muted } from '../ui/layout/page.tsx'
import { Pagination } from '../ui/navigation/pagination.tsx'
import { Status, type Tone } from '../ui/feedback/status.tsx'
import { Loading } from '../ui/feedback/loading.tsx'
import { appealsQuery, attacks, type Appeals } from './api.ts'

type AppealRow = Appeals['appeals'][number]

const WORDS: Record<AppealRow['status'], [Tone, string]> = {
  open: ['warn', 'Waits for you'],
  granted: ['good', 'Granted at once'],
  upheld: ['good', 'Taken off the list'],
  rejected: ['unknown', 'Stays listed'],
}

/** What people said about listings; those that wait come first. */
export function AppealList() {
  const [page, setPage] = useState(1)
  const { data, error } = useQuery(appealsQuery(page))
  if (error) return <Notice tone="bad">{error.message}</Notice>
  if (!data) return <Loading lines={3}>Fetching the appeals …</Loading>
  if (data.appeals.length === 0) return <Muted>Nobody appealed against a listing.</Muted>
  return (
    <>
      <List>
        {data.appeals.map((appeal) => (
          <AppealItem key={appeal.id} appeal={appeal} />
        ))}
      </List>
      <Pagination page={page} totalPages={data.pagination.totalPages} onGo={setPage} />
    </>
  )
}

function AppealItem({ appeal }: { appeal: AppealRow }) {
  const { address, reason, own, status, createdAt } = appeal
  const [tone, word] = WORDS[status]
  return (
    <ListItem
      title={
        <Link to="/attacks" search={{ ip: address.replace(/\/\d+$/, '') }}>
          {address}
        </Link>
      }
      action={status === 'open' ? <Decide appeal={appeal} /> : <Status tone={tone}>{word}</Status>}
    >
      “{reason}”
      <br />
      {own ? 'From the address itself' : 'From elsewhere'} · <Ago at={createdAt} />
    </ListItem>
  )
}

function Decide({ appeal: { id, address } }: { appeal: AppealRow }) {
  const queries = useQueryClient()

  async function decide(upheld: boolean): Promise<void> {
    await attacks.decide(id, upheld)
    await queries.invalidateQueries({ queryKey: ['attacks'] })
  }

  return (
    <Row>
      <ConfirmButton
        label="Take it off"
        about={address}
        title={`Take ${address} off the list?`}
        kind="plain"
        keep="Wait"
        onConfirm={() => decide(true)}
      >
        The evidence is erased, and the networks that supported the listing lose reputation.
      </ConfirmButton>
      <ConfirmButton
        label="Keep it listed"
        about={address}
        title={`Keep ${address} listed?`}
        keep="Wait"
        onConfirm={() => decide(false)}
      >
        The appeal is closed. Without new reports the listing ends after seven days at the latest.
      </ConfirmButton>
    </Row>
  )
}
