import { DomainBox } from '../domains/domain-box.tsx'
import { Loading } from '../ui/feedback/loading.tsx'
import { Page } from '../ui/layout/page.tsx'
import { overview as messages } from './messages.ts'

/** The outline of the overview while its data loads. */
export function OverviewSkeleton() {
  return (
    <Page wide title={messages.title} aside={<DomainBox compact />} rail={null}>
      <Loading shape="grid" lines={9}>
        {messages.loading}
      </Loading>
    </Page>
  )
}
