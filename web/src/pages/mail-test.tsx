import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { mailTests, mailTestQuery, type MailTest } from '../deliverability/api.ts'
import { MailResult } from '../deliverability/mail-result.tsx'
import { mailTest as messages } from '../deliverability/messages.ts'
import { TestAddress } from '../deliverability/test-address.tsx'
import { Button } from '../ui/actions/button.tsx'
import { Segments } from '../ui/actions/segments.tsx'
import { Snippet } from '../ui/actions/copy.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Page } from '../ui/layout/page.tsx'
import { BackLink } from '../ui/navigation/back-link.tsx'
import { useAccess } from '../workspaces/roles.ts'

/** One test: its address, and what its mails show. */
export function Screen() {
  const { id } = useParams({ from: '/own/mail-tests/$id' })
  const { data: test, error } = useQuery(mailTestQuery(id))
  return (
    <Page
      title={messages.titleOf(test?.mails.at(-1)?.subject ?? null)}
      above={<BackLink to="/mail-tests">{messages.back}</BackLink>}
      lead={test?.mails.at(-1)?.from ?? undefined}
      aside={test && test.mails.length > 0 && <ShareButton test={test} />}
    >
      <LoadingOrError there={test} error={error} lines={4}>
        {messages.loading}
      </LoadingOrError>
      {test && <Content test={test} />}
    </Page>
  )
}

function Content({ test }: { test: MailTest }) {
  const { mails, isOpen, url } = test
  const [chosen, setChosen] = useState<number | null>(null)
  const mail = mails.find(({ number }) => number === chosen) ?? mails.at(-1)
  return (
    <>
      {url !== null && (
        <Notice tone="info">
          <p>{messages.shared}</p>
          <Snippet text={url} what={messages.share} />
        </Notice>
      )}
      {mails.length === 0 && isOpen && <TestAddress test={test} />}
      {mails.length === 0 && isOpen && (
        <div role="status">
          <Notice tone="info">{messages.waiting}</Notice>
        </div>
      )}
      {mails.length > 1 && mail && (
        <Segments
          label={messages.back}
          value={String(mail.number)}
          choices={mails.map(({ number }) => ({
            value: String(number),
            name: messages.mailNumber(number),
          }))}
          onChange={(value) => setChosen(Number(value))}
        />
      )}
      {mail && <MailResult mail={mail} />}
      {mails.length > 0 && isOpen && <TestAddress test={test} />}
    </>
  )
}

function ShareButton({ test: { id, url } }: { test: MailTest }) {
  const access = useAccess()
  const queries = useQueryClient()
  async function change(): Promise<void> {
    const test = await (url === null ? mailTests.share(id) : mailTests.endShare(id))
    queries.setQueryData(mailTestQuery(id).queryKey, test)
  }
  return (
    <Button {...access} onClick={() => void change()}>
      {url === null ? messages.share : messages.endShare}
    </Button>
  )
}
