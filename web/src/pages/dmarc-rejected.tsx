import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { rejectedFilePath, rejectedQuery, type RejectedItem } from '../dmarc/api.ts'
import { channels, rejected as messages, shared } from '../dmarc/messages.ts'
import { MissingDomains } from '../dmarc/reports/missing-domains.tsx'
import { Ago } from '../ui/text/ago.tsx'
import { BackLink } from '../ui/navigation/back-link.tsx'
import { DownloadLink } from '../ui/actions/button.tsx'
import { VisuallyHidden } from '../ui/text/visually-hidden.tsx'
import { Page, Muted } from '../ui/layout/page.tsx'
import { PaginationLinks } from '../ui/navigation/pagination.tsx'
import { Table } from '../ui/lists/table.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'

export function Screen() {
  const { page = 1 } = useSearch({ from: '/own/dmarc/rejected' })
  const navigate = useNavigate({ from: '/dmarc/rejected' })
  const { data, error } = useQuery({ ...rejectedQuery(page), placeholderData: keepPreviousData })
  return (
    <Page
      wide
      title={messages.title}
      above={<BackLink to="/dmarc">{shared.title}</BackLink>}
      lead={messages.lead}
    >
      <LoadingOrError there={data} error={error} lines={5} shape="table">
        {messages.loading}
      </LoadingOrError>
      {data?.pagination.total === 0 && <Muted>{messages.empty}</Muted>}
      {data && <MissingDomains rejected={data.rejected} />}
      {data && data.pagination.total > 0 && (
        <div>
          <RejectedTable rejected={data.rejected} />
          <PaginationLinks
            {...data.pagination}
            onGo={(to) => void navigate({ search: { page: to } })}
          />
        </div>
      )}
    </Page>
  )
}

function RejectedTable({ rejected }: { rejected: RejectedItem[] }) {
  return (
    <Table
      caption={messages.title}
      quiet
      columns={[messages.name, messages.reason, shared.received, messages.original]}
    >
      {rejected.map(({ id, name, reason, via, kept, receivedAt }) => (
        <tr key={id}>
          <th scope="row">
            {name}
            <small>{via && channels[via]}</small>
          </th>
          <td>{reason}</td>
          <td>
            <Muted>
              <Ago at={receivedAt} />
            </Muted>
          </td>
          <td>
            {kept ? (
              <DownloadLink href={rejectedFilePath(id)} name={name}>
                {messages.download} <VisuallyHidden>{name}</VisuallyHidden>
              </DownloadLink>
            ) : (
              <Muted>{messages.notKept}</Muted>
            )}
          </td>
        </tr>
      ))}
    </Table>
  )
}
