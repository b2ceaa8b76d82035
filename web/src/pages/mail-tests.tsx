import { MailTests } from '../deliverability/mail-test-list.tsx'
import { mailTests as messages } from '../deliverability/messages.ts'
import { DomainViews } from '../domains/domain-views.tsx'
import { Page } from '../ui/layout/page.tsx'

/** The tests of the workspace, of any domain and of none. */
export function Screen() {
  return (
    <Page wide title={messages.title} lead={messages.lead}>
      <DomainViews />
      <MailTests domain={null} />
    </Page>
  )
}
