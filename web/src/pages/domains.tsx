import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { domains as requests, domainsQuery, type DomainSummary } from '../domains/api.ts'
import { DomainBox } from '../domains/domain-box.tsx'
import { DomainGrid } from '../domains/domain-grid.tsx'
import { DomainTable } from '../domains/domain-table.tsx'
import { domainPages as messages, importing, list } from '../domains/messages.ts'
import { ImportButton } from '../imports/import-dialog.tsx'
import { Segments } from '../ui/actions/segments.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { Muted, Page, Row, Section } from '../ui/layout/page.tsx'

/** The domains of the workspace, those with problems first. */
export function Screen() {
  const { data, error } = useQuery(domainsQuery)
  return (
    <Page title={messages.title} lead={messages.lead} wide aside={<WatchSeveral />}>
      <DomainBox autoFocus />
      <Section title={list.title}>
        <LoadingOrError there={data} error={error} lines={4}>
          {messages.loading}
        </LoadingOrError>
        {data?.domains.length === 0 && <Muted>{list.none}</Muted>}
        {data && data.domains.length > 0 && <Domains domains={data.domains} />}
        {data && data.pagination.total > data.domains.length && (
          <Muted>{list.more(data.domains.length, data.pagination.total)}</Muted>
        )}
      </Section>
    </Page>
  )
}

/** The domains as cards, or as a table with what can be done with several. */
function Domains({ domains }: { domains: DomainSummary[] }) {
  const { view = 'cards' } = useSearch({ from: '/own/domains' })
  const navigate = useNavigate({ from: '/domains' })
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
  if (view === 'table') return <DomainTable domains={domains} filters={choice} />
  return (
    <>
      <Row>{choice}</Row>
      <DomainGrid domains={domains} />
    </>
  )
}

function WatchSeveral() {
  const queries = useQueryClient()
  return (
    <ImportButton
      {...importing}
      kind="domains"
      onImport={async (entries) => {
        const report = await requests.watchSeveral(entries.map(({ name }) => ({ domain: name })))
        await queries.invalidateQueries(domainsQuery)
        return report
      }}
    />
  )
}
