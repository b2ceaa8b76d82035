import { DomainBox } from '../domains/domain-box.tsx'
import { domainPages as messages } from '../domains/messages.ts'
import { Page } from '../ui/layout/page.tsx'

export function Screen() {
  return (
    <Page title={messages.title} lead={messages.lead} wide>
      <DomainBox autoFocus />
    </Page>
  )
}
