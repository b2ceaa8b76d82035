import { CopyButton, Snippet } from '../ui/actions/copy.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Card, Muted, Section, Stack } from '../ui/layout/page.tsx'
import { ExactTime } from '../ui/text/date-text.tsx'
import type { MailTest } from './api.ts'
import { mailTest as messages } from './messages.ts'

/** Where to send the next mail of a test. */
export function TestAddress({ test }: { test: MailTest }) {
  const { address, code, mailboxes, mailCount, maxMails, expiresAt } = test
  if (address === null && mailboxes.length === 0)
    return <Notice tone="info">{messages.noAddress}</Notice>
  return (
    <Section title={messages.address}>
      <Card>
        <Stack>
          {address !== null && (
            <>
              <p>{mailCount === 0 ? messages.send : messages.sendMore(maxMails - mailCount)}</p>
              <Snippet text={address} what={messages.address} />
            </>
          )}
          {mailboxes.map((mailbox) => (
            <p key={mailbox}>
              {messages.mailbox(mailbox)} <code>{code}</code>{' '}
              <CopyButton text={code} what={mailbox} />
            </p>
          ))}
          <p>
            <Muted>
              {messages.until} <ExactTime at={expiresAt} />.
            </Muted>
          </p>
        </Stack>
      </Card>
    </Section>
  )
}
