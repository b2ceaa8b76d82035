import { CheckField } from '../check/check-field.tsx'
import { Loading } from '../ui/feedback/loading.tsx'
import { Page } from '../ui/layout/page.tsx'
import { overview as messages } from './messages.ts'

/** Room for the box, which comes with the data: text typed before would be lost with the outline. */
function Room() {
  return (
    <div style={{ visibility: 'hidden' }}>
      <CheckField compact />
    </div>
  )
}

/** The outline of the overview while its data loads. */
export function OverviewSkeleton() {
  return (
    <Page wide title={messages.title} aside={<Room />} rail={null}>
      <Loading shape="grid" lines={9}>
        {messages.loading}
      </Loading>
    </Page>
  )
}
