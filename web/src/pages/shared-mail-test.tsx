import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { sharedMailTestQuery } from '../deliverability/api.ts'
import { MailResult } from '../deliverability/mail-result.tsx'
import { mailTest as messages } from '../deliverability/messages.ts'
import { Loading } from '../ui/feedback/loading.tsx'
import { Page } from '../ui/layout/page.tsx'

/** A test that a workspace shares by its link: its latest mail. */
export function Screen() {
  const { token } = useParams({ from: '/open/shared-mail-tests/$token' })
  const { data: test, error } = useQuery(sharedMailTestQuery(token))
  if (error)
    return (
      <Page title={messages.notFound} lead={error.message}>
        <p>
          <Link to="/">{messages.home}</Link>
        </p>
      </Page>
    )
  if (!test) return <Loading lines={5}>{messages.loading}</Loading>
  const mail = test.mails.at(-1)
  return (
    <Page title={mail?.subject ?? messages.sharedTitle}>{mail && <MailResult mail={mail} />}</Page>
  )
}
