import { useMutation, useQuery } from '@tanstack/react-query'
import { digestQuery, digests, previewUrl } from '../digest/api.ts'
import { DigestForm } from '../digest/digest-form.tsx'
import { messages } from '../digest/messages.ts'
import classes from '../digest/preview.module.css'
import { Button } from '../ui/actions/button.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Card, Muted, Page, Row, Section } from '../ui/layout/page.tsx'
import { viewerTimeZone } from '../ui/text/dates.ts'

export function Screen() {
  const { data: digest, error } = useQuery(digestQuery)
  const test = useMutation({ mutationFn: digests.test })
  const frequency = digest?.frequency === 'daily' ? 'daily' : 'weekly'
  return (
    <Page title={messages.title} lead={messages.lead}>
      <LoadingOrError there={digest} error={error} lines={3} shape="cards">
        {messages.loading}
      </LoadingOrError>
      {digest && (
        <>
          <Section title={messages.settings}>
            {digest.problem && <Notice tone="warn">{digest.problem}</Notice>}
            <Card>
              <DigestForm digest={digest} />
            </Card>
            <Row>
              <Button
                busy={test.isPending}
                disabledReason={digest.problem ?? undefined}
                onClick={() => test.mutate()}
              >
                {messages.test}
              </Button>
              <Muted>{messages.recipient(digest.email)}</Muted>
            </Row>
            <div role="status">
              {test.isSuccess && messages.testSent}
              {test.error && <Notice tone="bad">{test.error.message}</Notice>}
              {digest.lastOutcome && (
                <Muted>{`${messages.last}: ${messages.outcomes[digest.lastOutcome]}`}</Muted>
              )}
              {digest.lastError && <Muted>{` (${digest.lastError})`}</Muted>}
            </div>
          </Section>
          <Section title={messages.preview}>
            <iframe
              className={classes.frame}
              title={messages.previewTitle}
              src={previewUrl(frequency, viewerTimeZone())}
              sandbox="allow-popups allow-popups-to-escape-sandbox"
            />
          </Section>
        </>
      )}
    </Page>
  )
}
