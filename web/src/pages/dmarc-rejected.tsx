import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { rejectedFilePath, rejectedQuery, type RejectedItem } from '../dmarc/api.ts'
import { describeVia } from '../dmarc/words.ts'
import { Ago } from '../ui/text/ago.tsx'
import { BackLink } from '../ui/navigation/back-link.tsx'
import { DownloadLink } from '../ui/actions/button.tsx'
import { VisuallyHidden } from '../ui/text/visually-hidden.tsx'
import { Page, Muted } from '../ui/layout/page.tsx'
import { Pagination } from '../ui/navigation/pagination.tsx'
import { Table } from '../ui/lists/table.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'

export function Screen() {
  const { page = 1 } = useSearch({ from: '/own/dmarc/rejected' })
  const navigate = useNavigate({ from: '/dmarc/rejected' })
  const { data, error } = useQuery({ ...rejectedQuery(page), placeholderData: keepPreviousData })
  return (
    <Page
      wide
      title="What was set aside"
      above={<BackLink to="/dmarc">DMARC</BackLink>}
      lead="What came and was not taken, and why: it is on a domain that is not yours, damaged, hostile or something else."
    >
      <LoadingOrError there={data} error={error} lines={5}>
        Fetching what was set aside …
      </LoadingOrError>
      {data?.rejected.length === 0 && <Muted>Nothing was set aside.</Muted>}
      {data && data.rejected.length > 0 && (
        <div>
          <SetAsideTable rejected={data.rejected} />
          <Pagination {...data.pagination} onGo={(to) => void navigate({ search: { page: to } })} />
        </div>
      )}
    </Page>
  )
}

function SetAsideTable({ rejected }: { rejected: RejectedItem[] }) {
  return (
    <Table caption="What was set aside" quiet columns={['What', 'Why', 'Received', 'As it came']}>
      {rejected.map(({ id, name, reason, via, kept, receivedAt }) => (
        <tr key={id}>
          <th scope="row">
            {name}
            <small>{describeVia(via)}</small>
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
                Download <VisuallyHidden>{name}</VisuallyHidden>
              </DownloadLink>
            ) : (
              <Muted>not kept</Muted>
            )}
          </td>
        </tr>
      ))}
    </Table>
  )
}
