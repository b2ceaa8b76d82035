import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import {
  domains as requests,
  DOMAINS_KEY,
  domainsQuery,
  listDomains,
  type DomainPage,
} from '../domains/api.ts'
import { CheckField } from '../check/check-field.tsx'
import { DomainViews } from '../domains/domain-views.tsx'
import { DomainGrid } from '../domains/domain-grid.tsx'
import { DOMAIN_SORTS, DomainTable } from '../domains/domain-table.tsx'
import { domainPages as messages, importing, list } from '../domains/messages.ts'
import { ImportButton } from '../imports/import-dialog.tsx'
import { orderOf } from '../search.ts'
import { Segments } from '../ui/actions/segments.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { FilterField } from '../ui/forms/filter-field.tsx'
import { Muted, Page, Row, Section } from '../ui/layout/page.tsx'
import { useTableSearch } from '../ui/lists/use-table-search.ts'
import { PaginationLinks } from '../ui/navigation/pagination.tsx'

/** The domains of the workspace, those with problems first. */
export function Screen() {
  const filter = useDomainFilter()
  const { data, error } = useQuery({ ...domainsQuery(filter), placeholderData: keepPreviousData })
  const isEmpty = data?.pagination.total === 0 && filter.q === undefined
  return (
    <Page title={messages.title} lead={messages.lead} wide aside={<WatchSeveral />}>
      <DomainViews />
      <CheckField autoFocus />
      <Section title={list.title}>
        <LoadingOrError there={data} error={error} lines={4}>
          {messages.loading}
        </LoadingOrError>
        {isEmpty && <Muted>{list.none}</Muted>}
        {data && !isEmpty && <Domains {...data} />}
      </Section>
    </Page>
  )
}

/** The page of domains that the URL names. */
function useDomainFilter() {
  const { page, q, sort } = useSearch({ from: '/own/domains' })
  return { page, q, sort: orderOf(sort, DOMAIN_SORTS) }
}

/** The domains as cards, or as a table with what can be done with several. */
function Domains({ domains, pagination }: DomainPage) {
  const filter = useDomainFilter()
  const { view = 'cards' } = useSearch({ from: '/own/domains' })
  const navigate = useNavigate({ from: '/domains' })
  const table = useTableSearch()
  const paged = {
    ...pagination,
    onGo: (page: number) => void navigate({ search: (before) => ({ ...before, page }) }),
  }
  const choice = (
    <Segments
      label={list.view}
      choices={list.views}
      value={view}
      onChange={(chosen) =>
        void navigate({
          search: (before) => ({ ...before, view: chosen === 'cards' ? undefined : chosen }),
          replace: true,
          resetScroll: false,
        })
      }
    />
  )
  if (view === 'table')
    return (
      <DomainTable
        domains={domains}
        filters={choice}
        paged={{
          ...paged,
          sorts: DOMAIN_SORTS,
          loadPage: async (page) => (await listDomains({ ...filter, page })).domains,
        }}
      />
    )
  return (
    <>
      <Row>
        {(pagination.total >= DOMAINS_TO_FILTER || table.filter !== '') && (
          <FilterField label={list.filter} value={table.filter} onFilter={table.filterBy} />
        )}
        {choice}
      </Row>
      {domains.length === 0 && <Muted>{list.noMatch}</Muted>}
      <DomainGrid domains={domains} />
      <PaginationLinks {...paged} />
    </>
  )
}

/** Number of domains from which the cards can be filtered, as tables can. */
const DOMAINS_TO_FILTER = 8

function WatchSeveral() {
  const queries = useQueryClient()
  return (
    <ImportButton
      {...importing}
      kind="domains"
      onImport={async (entries) => {
        const report = await requests.watchSeveral(entries.map(({ name }) => ({ domain: name })))
        await queries.invalidateQueries({ queryKey: DOMAINS_KEY })
        return report
      }}
    />
  )
}
