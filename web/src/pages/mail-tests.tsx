import { MailTests } from '../deliverability/mail-test-list.tsx'
import { mailTests as messages } from '../deliverability/messages.ts'
import { Page } from '../ui/layout/page.tsx'
import { BackLink } from '../ui/navigation/back-link.tsx'

/** The tests of the workspace, of any domain and of none. */
export function Screen() {
  return (
    <Page
      wide
      title={messages.title}
      above={<BackLink to="/domains">{messages.back}</BackLink>}
      lead={messages.lead}
    >
      <MailTests domain={null} />
    </Page>
  )
}
