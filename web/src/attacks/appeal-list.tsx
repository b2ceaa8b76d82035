import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Ago } from '../ui/text/ago.tsx'
import { ConfirmButton } from '../ui/actions/confirm.tsx'
import { List, ListItem } from '../ui/lists/list.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Row, Muted } from '../ui/layout/page.tsx'
import { PaginationLinks } from '../ui/navigation/pagination.tsx'
import { Status, type Tone } from '../ui/feedback/status.tsx'
import { Loading } from '../ui/feedback/loading.tsx'
import { appealsQuery, attacks, type Appeals } from './api.ts'
import { appeals as messages } from './messages.ts'

type AppealRow = Appeals['appeals'][number]

const TONES: Record<AppealRow['status'], Tone> = {
  open: 'warn',
  granted: 'good',
  upheld: 'good',
  rejected: 'unknown',
}

/** Appeals, those that need a decision first. */
export function AppealList() {
  const [page, setPage] = useState(1)
  const { data, error } = useQuery(appealsQuery(page))
  if (error) return <Notice tone="bad">{error.message}</Notice>
  if (!data) return <Loading lines={3}>{messages.loading}</Loading>
  if (data.appeals.length === 0) return <Muted>{messages.empty}</Muted>
  return (
    <>
      <List>
        {data.appeals.map((appeal) => (
          <AppealItem key={appeal.id} appeal={appeal} />
        ))}
      </List>
      <PaginationLinks page={page} totalPages={data.pagination.totalPages} onGo={setPage} />
    </>
  )
}

function AppealItem({ appeal }: { appeal: AppealRow }) {
  const { address, reason, own, status, createdAt } = appeal
  return (
    <ListItem
      title={
        <Link to="/addresses/$ip" params={{ ip: address.replace(/\/\d+$/, '') }}>
          {address}
        </Link>
      }
      action={
        status === 'open' ? (
          <Decide appeal={appeal} />
        ) : (
          <Status tone={TONES[status]}>{messages.statuses[status]}</Status>
        )
      }
    >
      “<bdi>{reason}</bdi>”
      <br />
      {own ? messages.own : messages.other} · <Ago at={createdAt} />
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
        label={messages.accept}
        about={address}
        title={messages.acceptTitle(address)}
        kind="plain"
        keep={messages.wait}
        onConfirm={() => decide(true)}
      >
        {messages.acceptText}
      </ConfirmButton>
      <ConfirmButton
        label={messages.reject}
        about={address}
        title={messages.rejectTitle(address)}
        keep={messages.wait}
        onConfirm={() => decide(false)}
      >
        {messages.rejectText}
      </ConfirmButton>
    </Row>
  )
}
