import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { batchesQuery, type ListedBatch } from '../migrations/batches/api.ts'
import { list as messages, statuses } from '../migrations/batches/messages.ts'
import { countInSync, toneOf } from '../migrations/batches/status.ts'
import { ButtonLink } from '../ui/actions/button.tsx'
import { Empty } from '../ui/feedback/empty.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { ProgressBar } from '../ui/feedback/progress-bar.tsx'
import { Status } from '../ui/feedback/status.tsx'
import { Muted, Page } from '../ui/layout/page.tsx'
import { Table } from '../ui/lists/table.tsx'
import { BackLink } from '../ui/navigation/back-link.tsx'
import { PaginationLinks } from '../ui/navigation/pagination.tsx'
import { Ago } from '../ui/text/ago.tsx'
import { useAccess } from '../workspaces/roles.ts'

export function Screen() {
  const access = useAccess()
  const { page } = useSearch({ from: '/own/migrations/batches' })
  const navigate = useNavigate({ from: '/migrations/batches' })
  const { data, error } = useQuery({ ...batchesQuery(page), placeholderData: keepPreviousData })
  return (
    <Page
      wide
      title={messages.title}
      lead={messages.lead}
      above={<BackLink to="/migrations">{messages.back}</BackLink>}
      aside={
        <ButtonLink {...access} kind="primary" icon="plus" to="/migrations/batches/new">
          {messages.create}
        </ButtonLink>
      }
    >
      <LoadingOrError there={data} error={error} lines={4} shape="table">
        {messages.loading}
      </LoadingOrError>
      {data && data.pagination.total === 0 && (
        <Empty icon="move" title={messages.empty}>
          <p>
            <Muted>{messages.emptyText}</Muted>
          </p>
        </Empty>
      )}
      {data && data.pagination.total > 0 && (
        <>
          <Table caption={messages.yours} columns={Object.values(messages.columns)}>
            {data.batches.map((batch) => (
              <BatchRow key={batch.id} batch={batch} />
            ))}
          </Table>
          <PaginationLinks
            {...data.pagination}
            onGo={(to) => void navigate({ search: (before) => ({ ...before, page: to }) })}
          />
        </>
      )}
    </Page>
  )
}

function BatchRow({ batch }: { batch: ListedBatch }) {
  const { id, name, status, mailboxes, counts, createdAt, emptyMailboxes } = batch
  const done = countInSync(batch)
  const failed = counts['needs_attention'] ?? 0
  return (
    <tr>
      <th scope="row">
        <Link to="/migrations/batches/$id" params={{ id }}>
          {name}
        </Link>
        <small>{messages.mailboxes(mailboxes)}</small>
      </th>
      <td>
        <ProgressBar label={messages.progressOf(name)} done={done} total={mailboxes} />
        <small>
          {messages.inSync(done, mailboxes)}
          {messages.emptyOf(emptyMailboxes, done)}
          {failed > 0 && `, ${messages.attention(failed)}`}
        </small>
      </td>
      <td>
        <Status tone={toneOf(batch)}>{statuses[status]}</Status>
      </td>
      <td>
        <Muted>
          <Ago at={createdAt} />
        </Muted>
      </td>
    </tr>
  )
}
