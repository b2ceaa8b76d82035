import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { postCommand } from '../check/curl-commands.ts'
import { delisting, delistingsQuery, type DelistingFilter } from '../delisting/api.ts'
import { DELISTING_SORTS, DelistingTable } from '../delisting/delisting-table.tsx'
import { list } from '../delisting/messages.ts'
import { orderOf } from '../search.ts'
import { ButtonLink } from '../ui/actions/button.tsx'
import { Choice } from '../ui/forms/choice.tsx'
import { Snippet } from '../ui/actions/copy.tsx'
import { Empty } from '../ui/feedback/empty.tsx'
import { FilterField } from '../ui/forms/filter-field.tsx'
import { Page, Muted } from '../ui/layout/page.tsx'
import { CSV_PAGE_ROWS } from '../ui/lists/paged.ts'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { useAccess } from '../workspaces/roles.ts'
import { ServerViews } from '../monitoring/server-views.tsx'

export function Screen() {
  const access = useAccess()
  const { ip, status, page, sort } = useSearch({ from: '/own/delisting' })
  const isAddress = ip === undefined || looksLikeAddress(ip)
  const filter = {
    ip: isAddress ? ip : undefined,
    status,
    sort: orderOf(sort, DELISTING_SORTS),
  }
  const { data, error } = useQuery({
    ...delistingsQuery({ ...filter, page }),
    placeholderData: keepPreviousData,
  })
  const go = useFilter()
  const isFiltered = ip !== undefined || status !== undefined
  return (
    <Page
      wide
      title={list.title}
      lead={list.lead}
      aside={
        <ButtonLink {...access} kind="primary" icon="plus" to="/delisting/new">
          {list.create}
        </ButtonLink>
      }
    >
      <ServerViews />
      <LoadingOrError there={data} error={error} lines={4} shape="table">
        {list.loading}
      </LoadingOrError>
      {data && data.pagination.total === 0 && !isFiltered && <NoDelistings />}
      {data && (data.pagination.total > 0 || isFiltered) && (
        <DelistingTable
          delistings={data.processes}
          filters={<Filters isAddress={isAddress} />}
          paged={{
            ...data.pagination,
            onGo: (to) => go({ page: to }),
            sorts: DELISTING_SORTS,
            loadPage: async (number) =>
              (await delisting.list({ ...filter, page: number }, CSV_PAGE_ROWS)).processes,
          }}
        />
      )}
    </Page>
  )
}

/** The API finds complete addresses only. */
function looksLikeAddress(text: string): boolean {
  return /^\d{1,3}(\.\d{1,3}){3}$/.test(text) || (/^[\da-f:.]+$/i.test(text) && text.includes('::'))
}

function useFilter() {
  const navigate = useNavigate({ from: '/delisting' })
  return (filter: DelistingFilter) =>
    void navigate({
      search: (before) => ({ ...before, page: undefined, ...filter }),
      replace: true,
    })
}

const STATUSES = Object.entries(list.statuses).map(([value, name]) => ({
  value: value as keyof typeof list.statuses,
  name,
}))

function Filters({ isAddress }: { isAddress: boolean }) {
  const { ip = '', status } = useSearch({ from: '/own/delisting' })
  const go = useFilter()
  return (
    <>
      <FilterField
        label={list.filter}
        value={ip}
        onFilter={(text) => go({ ip: text || undefined })}
      />
      <Choice
        size="normal"
        label={list.status}
        choices={STATUSES}
        value={status ?? 'all'}
        onChange={(value) => go({ status: value === 'all' ? undefined : value })}
      />
      {!isAddress && <Muted>{list.filterHint}</Muted>}
    </>
  )
}

function NoDelistings() {
  return (
    <Empty icon="leave" title={list.empty}>
      <p>
        <Muted>{list.emptyHint}</Muted>
      </p>
      <Snippet what={list.command} text={postCommand('/api/v1/delisting', { ip: '8.8.4.4' })} />
    </Empty>
  )
}
