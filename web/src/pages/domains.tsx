import { useQuery } from '@tanstack/react-query'
import { domainsQuery } from '../domains/api.ts'
import { DomainBox } from '../domains/domain-box.tsx'
import { DomainGrid } from '../domains/domain-grid.tsx'
import { domainPages as messages, list } from '../domains/messages.ts'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { Muted, Page, Section } from '../ui/layout/page.tsx'

/** The domains of the workspace, those with problems first. */
export function Screen() {
  const { data, error } = useQuery(domainsQuery)
  return (
    <Page title={messages.title} lead={messages.lead} wide>
      <DomainBox autoFocus />
      <Section title={list.title}>
        <LoadingOrError there={data} error={error} lines={4}>
          {messages.loading}
        </LoadingOrError>
        {data?.domains.length === 0 && <Muted>{list.none}</Muted>}
        {data && data.domains.length > 0 && <DomainGrid domains={data.domains} />}
        {data && data.pagination.total > data.domains.length && (
          <Muted>{list.more(data.domains.length, data.pagination.total)}</Muted>
        )}
      </Section>
    </Page>
  )
}
